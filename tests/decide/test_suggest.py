"""Which nodes to label next: reasons, replaced nodes, rows."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.decide.choosers.base import LabelState
from drgst.decide.suggest import CONFIDENT, STANDS_FOR, reason, suggest_nodes, suggestion_rows
from drgst.errors import SettingError

NAMES = ("a", "b", "c")


def state(confident: int = 0) -> LabelState:
    """40 nodes in two bundles, two labelled; the first ``confident`` candidates are of confidence 0.99."""
    rng = np.random.default_rng(0)
    z = np.repeat(np.eye(2), 20, axis=0) + 0.05 * rng.standard_normal((40, 2))
    p = np.tile([0.45, 0.4, 0.15], (40, 1))
    p[2 : 2 + confident] = [0.99, 0.005, 0.005]
    return LabelState(z, np.arange(2, 40), np.arange(2), np.random.default_rng(0), p)


def test_confident_nodes_need_a_reason() -> None:
    """A node of confidence 0.99 is suggested only where it stands for others."""
    for n in (3, 20):
        given = state(confident=30)
        found = suggest_nodes(given, "variance", n, NAMES)
        confidence = given.probabilities[found.nodes].max(axis=1)  # type: ignore[index]
        assert (found.represents[confidence > CONFIDENT] >= STANDS_FOR).all()
        assert all(found.reasons)


def test_samples_keep_confident_nodes() -> None:
    found = suggest_nodes(state(confident=38), "random", 10, NAMES)
    assert found.nodes.size == 10
    assert all(words.startswith("drawn at random") for words in found.reasons)


def test_reason_names_what_a_person_can_check() -> None:
    given = state()
    assert (
        reason(given, 5, 132, False, NAMES)
        == "132 nodes are nearer to it than to any label; between a (0.45) and b (0.40)"
    )
    assert reason(state(38), 5, 1, True, NAMES) == "drawn at random; 1 node is nearer to it than to any label"


def test_rows() -> None:
    given = state()
    drawn = suggestion_rows(suggest_nodes(given, "random", 4, NAMES), given.probabilities)
    assert all(row["probability"] == pytest.approx(4 / 38) for row in drawn)
    chosen = suggestion_rows(suggest_nodes(given, "entropy", 4, NAMES), None)
    assert all(row["probability"] is None and row["predicted"] is None for row in chosen)
    assert {row["chosen_by"] for row in chosen} == {"entropy"}


def test_limits() -> None:
    assert suggest_nodes(state(), "variance", 1000, NAMES).nodes.tolist() == list(range(2, 40))
    with pytest.raises(SettingError, match="at least 1"):
        suggest_nodes(state(), "variance", 0, NAMES)
