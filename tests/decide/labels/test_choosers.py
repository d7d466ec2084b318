"""The choosers of the library: probabilities of samples, typical nodes, information gain, and choosers in turn."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.decide.labels.choosers import (
    BeforeLabels,
    ClassBalanced,
    InformationGain,
    Margin,
    Medoids,
    Random,
    Switch,
    equal_counts,
)
from drgst.decide.labels.registry import chooser_note, default_chooser
from drgst.decide.labels.state import Choice, Chooser, LabelState

ANGLES = np.array([*(0.0, 0.01, 0.02, 0.3), *(2.0, 2.01, 2.02, 2.3), *(4.0, 4.01, 4.02, 4.3)])
BUNDLES = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)  # three bundles of four nodes on the unit circle


def bundles(labelled: list[int] | None = None, **more: object) -> LabelState:
    known = np.array(labelled or [], dtype=np.int64)
    free = np.setdiff1d(np.arange(12), known)
    return LabelState(BUNDLES, free, known, np.random.default_rng(0), **more)  # type: ignore[arg-type]


def state(seed: int) -> LabelState:
    """Twelve candidates: eight are predicted as class 0, of falling confidence, four as class 1."""
    top = np.concatenate([np.linspace(0.99, 0.6, 8), np.linspace(0.55, 0.9, 4)])
    p = np.stack([np.where(np.arange(12) < 8, top, 1 - top), np.where(np.arange(12) < 8, 1 - top, top)], axis=1)
    z = np.random.default_rng(0).standard_normal((12, 3))
    return LabelState(z, np.arange(12), np.empty(0, np.int64), np.random.default_rng(seed), p)


@pytest.mark.parametrize("chooser", [Random(), ClassBalanced()])
def test_probability_is_the_share_of_draws(chooser: Chooser) -> None:
    """Over 3,000 draws each node is chosen as often as its probability says."""
    hits, stated = np.zeros(12), np.full(12, np.nan)
    for seed in range(3_000):
        found = chooser(state(seed), 4)
        hits[found.nodes] += 1
        stated[found.nodes] = found.probability
    np.testing.assert_allclose(hits / 3_000, stated, atol=0.035)
    assert stated.sum() == pytest.approx(4, abs=1e-6)


def test_equal_counts() -> None:
    rng = np.random.default_rng(0)
    assert equal_counts(np.array([9, 9, 1]), 9, rng).tolist() == [4, 4, 1]
    assert sorted(equal_counts(np.array([9, 9, 9]), 4, rng).tolist()) == [1, 1, 2]


def test_medoids_are_typical_nodes_of_each_bundle() -> None:
    assert sorted(u // 4 for u in Medoids()(bundles(), 3).nodes) == [0, 1, 2]
    assert not np.isin(Medoids()(bundles(), 3).nodes, [3, 7, 11]).any()


def test_gain_takes_the_typical_upper_half_of_each_cluster() -> None:
    """The bundle with the largest gain first, and of it not the outlier of largest gain."""
    gain = np.array([1, 5, 5, 6, 0.5, 2, 2, 3, 2, 9, 9, 10.0])
    found = InformationGain()(bundles(probabilities=np.full((12, 2), 0.5), gain=gain), 3).nodes
    assert [u // 4 for u in found] == [2, 0, 1]
    assert gain[found].tolist() == [9, 5, 2]


def test_entropy_where_there_is_no_gain() -> None:
    p = np.stack([np.linspace(0.5, 1, 12), np.linspace(0.5, 0, 12)], axis=1)
    for gain in (np.zeros(12), np.full(12, np.nan), None):
        scores = InformationGain().scores(bundles(probabilities=p, gain=gain))
        assert (np.diff(scores) < 0).all()
    assert Margin()(bundles(probabilities=p), 3).nodes.tolist() == [0, 1, 2]


def first(state: LabelState, n: int) -> Choice:
    return Choice.of(state.candidates[:n])


def last(state: LabelState, n: int) -> Choice:
    return Choice.of(state.candidates[-n:])


def labelled_state(labelled: int, known: bool = True) -> LabelState:
    p = np.full((30, 2), 0.5) if known else None
    return LabelState(np.eye(30), np.arange(20, 30), np.arange(labelled), np.random.default_rng(0), p)


@pytest.mark.parametrize(("labelled", "expected"), [(6, [20, 21]), (11, [20, 21]), (12, [28, 29]), (20, [28, 29])])
def test_switch_at_six_labels_per_class(labelled: int, expected: list[int]) -> None:
    """Two classes: the first up to 11 labels, the other from 12."""
    assert Switch(first, last)(labelled_state(labelled), 2).nodes.tolist() == expected


def test_before_labels() -> None:
    assert BeforeLabels(first, last)(labelled_state(0, known=False), 1).nodes.tolist() == [20]
    assert BeforeLabels(first, last)(labelled_state(2), 1).nodes.tolist() == [29]


def test_chooser_by_recipe() -> None:
    """A recipe without a measured chooser suggests a class-balanced random sample, and says so."""
    assert {default_chooser(name) for name in ("drgst-plus", "gcn", "drgst-de")} == {"typical-first"}
    assert default_chooser("own") == "balanced"
    assert "no chooser was measured" in chooser_note("own", "balanced")
    assert "above those of a random sample" in chooser_note("drgst-plus", "typical-first")
    assert chooser_note("drgst-plus", "margin").startswith("Chosen by margin")
