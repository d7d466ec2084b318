"""Samples: their probabilities are those of the draws."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.decide.choosers.base import Chooser, LabelState
from drgst.decide.choosers.sample import ClassBalanced, Random, Spread, Uncertain, equal_counts
from drgst.decide.choosers.strata import split_into_strata


def state(seed: int) -> LabelState:
    """Twelve candidates: eight are predicted as class 0, of falling confidence, four as class 1."""
    top = np.concatenate([np.linspace(0.99, 0.6, 8), np.linspace(0.55, 0.9, 4)])
    p = np.stack([np.where(np.arange(12) < 8, top, 1 - top), np.where(np.arange(12) < 8, 1 - top, top)], axis=1)
    z = np.random.default_rng(0).standard_normal((12, 3))
    return LabelState(z, np.arange(12), np.empty(0, np.int64), np.random.default_rng(seed), p)


@pytest.mark.parametrize("chooser", [Random(), ClassBalanced(), Spread(), Spread(1.0)])
def test_probability_is_the_share_of_draws(chooser: Chooser) -> None:
    """Over 3,000 draws each node is chosen as often as its probability says."""
    hits, stated = np.zeros(12), np.full(12, np.nan)
    for seed in range(3_000):
        found = chooser(state(seed), 4)
        hits[found.nodes] += 1
        stated[found.nodes] = found.probability
    np.testing.assert_allclose(hits / 3_000, stated, atol=0.035)
    assert stated.sum() == pytest.approx(4, abs=1e-6)


def test_uncertain_nodes_are_drawn_more_often() -> None:
    hits = np.zeros(12)
    for seed in range(500):
        hits[Uncertain()(state(seed), 3).nodes] += 1
    assert hits[7] > 5 * hits[0]


def test_equal_counts() -> None:
    rng = np.random.default_rng(0)
    assert equal_counts(np.array([9, 9, 1]), 9, rng).tolist() == [4, 4, 1]
    assert sorted(equal_counts(np.array([9, 9, 9]), 4, rng).tolist()) == [1, 1, 2]


def test_strata_are_similar_and_of_equal_weight() -> None:
    """Four bundles of five become four strata; with all weight on one bundle, that is cut."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.array([[0, 0], [10, 0], [0, 30], [10, 30]]), 5, axis=0) + 0.1 * rng.standard_normal((20, 2))
    parts = split_into_strata(rows, np.ones(20), 4)
    assert sorted(sorted(part.tolist()) for part in parts) == [list(range(k, k + 5)) for k in (0, 5, 10, 15)]
    heavy = split_into_strata(rows, np.where(np.arange(20) < 5, 1.0, 1e-9), 4)
    assert sum(bool((part < 5).any()) for part in heavy) == 4
