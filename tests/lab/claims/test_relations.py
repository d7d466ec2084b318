"""Claims on information gain."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.lab.claims import relations
from drgst.lab.figures.toy_run import Toy
from drgst.lab.statistics.correlation import Correlation


def found(*rhos: float) -> list[Correlation]:
    return [Correlation(rho, rho - 0.1, rho + 0.1, 99) for rho in rhos]


def test_confidence_is_decided_over_networks() -> None:
    held = relations.confidence({"dropout": found(-0.5, -0.51, -0.52)}, "GCN on cora")
    assert held.verdict == "held"
    assert held.effects[0].counted == "networks"
    assert "ρ = -0.50 (-0.60 to -0.40)" in held.remarks[0]
    open_ = relations.confidence({"dropout": found(-0.5, -0.51), "dropedge": found(-0.5, 0.5)}, "GCN on cora")
    assert [e.verdict for e in open_.effects] == ["held", "too small to tell"]
    assert open_.verdict == "too small to tell"
    assert relations.confidence({}, "").verdict == "not run"


@pytest.mark.parametrize(("sign", "expected"), [(1, "held"), (-1, "refuted")])
def test_toy(sign: int, expected: str) -> None:
    """Pseudo-labels lie near the centre; gain grows with the distance, or falls and refutes the claim."""
    rng = np.random.default_rng(0)
    near = 0.15 * rng.standard_normal((300, 2))
    gain = sign * np.linalg.norm(near, axis=1)
    labelled, empty = 0.3 * rng.standard_normal((100, 2)), np.empty((0, 2))
    claim = relations.toy(Toy(labelled, near, empty, empty, gain, 1.0))
    assert claim.verdict == expected
    assert "300 nodes were pseudo-labelled" in claim.remarks[0]
    without = relations.toy(Toy(labelled, empty, empty, empty, np.empty(0), float("nan")))
    assert without.verdict == "not run"
    assert "No node was pseudo-labelled" in without.remarks[0]
