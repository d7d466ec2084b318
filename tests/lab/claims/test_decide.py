"""All claims, and those on information gain."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.lab.claims.decide import confidence_and_gain, decide_claims, gamma_and_gain, write_claims
from drgst.lab.figures.registry import Request
from drgst.lab.figures.toy import Toy
from drgst.lab.paper import DRGST, ablations
from drgst.lab.statistics import Correlation
from drgst.lab.store import Store
from drgst.lab.store.export import to_csv


def found(*rhos: float) -> list[Correlation]:
    return [Correlation(rho, rho - 0.1, rho + 0.1, 99) for rho in rhos]


def test_confidence_is_decided_over_networks() -> None:
    held = confidence_and_gain({"dropout": found(-0.5, -0.51, -0.52)}, "GCN on cora")
    assert held.verdict == "held"
    assert held.effects[0].counted == "networks"
    assert "ρ = -0.50 (-0.60 to -0.40)" in held.remarks[0]
    open_ = confidence_and_gain({"dropout": found(-0.5, -0.51), "dropedge": found(-0.5, 0.5)}, "GCN on cora")
    assert [e.verdict for e in open_.effects] == ["held", "too small to tell"]
    assert open_.verdict == "too small to tell"
    assert confidence_and_gain({}, "").verdict == "not run"


@pytest.mark.parametrize(("sign", "expected"), [(1, "held"), (-1, "refuted")])
def test_toy(sign: int, expected: str) -> None:
    """Pseudo-labels lie near the centre; gain grows with the distance, or falls and refutes the claim."""
    rng = np.random.default_rng(0)
    near = 0.15 * rng.standard_normal((300, 2))
    gain = sign * np.linalg.norm(near, axis=1)
    labelled, empty = 0.3 * rng.standard_normal((100, 2)), np.empty((0, 2))
    toys = [Toy(labelled, near[start:], empty, empty, gain[start:], 1.0) for start in (0, 20, 40)]
    claim = gamma_and_gain(toys)
    assert claim.verdict == expected
    assert [(effect.count, effect.counted) for effect in claim.effects] == [(3, "seeds")] * 3
    assert "280 nodes per toy were pseudo-labelled" in claim.remarks[0]
    assert {effect.verdict for effect in gamma_and_gain(toys[:1]).effects} == {"too small to tell"}
    without = gamma_and_gain([Toy(labelled, empty, empty, empty, np.empty(0), float("nan"))])
    assert without.verdict == "not run"
    assert "No node was pseudo-labelled" in without.remarks[0]


CHANGES = {"epochs": 4, "samples": 4}


def test_a_store_and_its_export_give_the_same_verdicts(
    tiny: Path, tmp_path: Path, make_row: Callable[..., dict[str, Any]]
) -> None:
    stages = json.dumps([{"seconds": 1.0, "epochs": 9}, {"seconds": 2.0, "epochs": 5}])
    with Store(tmp_path / "runs.db", create=True) as store:
        for place, recipe in enumerate(("gcn", *(r for whole in DRGST for r in ablations(whole)))):
            for draw in range(3):
                more = {"recipe": recipe, "draw": draw, "test_accuracy": 0.6 - place / 50 + draw / 1000 * (place + 1)}
                store.add(make_row(f"{recipe}{draw}", dataset="tiny", stage_rows=stages, **more))
        to_csv(store.all_rows(), tmp_path / "runs.csv")
        rows = store.all_rows()
    toy = Toy(*[np.zeros((0, 2))] * 4, np.zeros(0), float("nan"))
    verdicts = []
    for path in (tmp_path / "runs.db", tmp_path / "runs.csv"):
        request = Request(path, dataset=str(tiny), per_class=5, changes=CHANGES)
        found = request.rows if path.suffix == ".csv" else rows
        claims = decide_claims(found, request, networks=2, toys=1, first=toy)
        write_claims(claims, tmp_path / "claims.json")
        written = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
        verdicts.append({claim["title"]: claim["verdict"] for claim in written})
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 9
    assert verdicts[0]["Both parts help, information gain more"] == "held"
    assert verdicts[0]["DR-GST outperforms every baseline"] == "refuted"  # gcn is best in these rows
    assert verdicts[0]["A lower β is better"] == "not run"
