"""The choosers of learning curves: samples, dense nodes, far nodes, communities and mixtures on small pictures."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.decide.labels.choosers import Margin, Random
from drgst.decide.labels.state import Chooser, LabelState
from drgst.lab.curves.choosers import (
    Density,
    Entropy,
    KCenter,
    Mixture,
    Partition,
    Spread,
    Uncertain,
    communities,
    split_into_strata,
)

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


@pytest.mark.parametrize("chooser", [Spread(), Spread(1.0)])
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


def test_strata_are_similar_and_of_equal_weight() -> None:
    """Four bundles of five become four strata; with all weight on one bundle, that is cut."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.array([[0, 0], [10, 0], [0, 30], [10, 30]]), 5, axis=0) + 0.1 * rng.standard_normal((20, 2))
    parts = split_into_strata(rows, np.ones(20), 4)
    assert sorted(sorted(part.tolist()) for part in parts) == [list(range(k, k + 5)) for k in (0, 5, 10, 15)]
    heavy = split_into_strata(rows, np.where(np.arange(20) < 5, 1.0, 1e-9), 4)
    assert sum(bool((part < 5).any()) for part in heavy) == 4


def test_k_center_takes_the_farthest() -> None:
    found = KCenter()(bundles([0]), 2).nodes
    assert sorted(u // 4 for u in found) == [1, 2]


def test_density_avoids_labels_and_outliers() -> None:
    found = Density()(bundles([0]), 2).nodes
    assert sorted(u // 4 for u in found) == [1, 2]


def test_entropy_takes_the_least_certain() -> None:
    p = np.stack([np.linspace(0.5, 1, 12), np.linspace(0.5, 0, 12)], axis=1)
    assert Entropy()(bundles(probabilities=p), 3).nodes.tolist() == [0, 1, 2]


def test_communities_and_their_typical_nodes() -> None:
    """Three cliques of four that one edge joins; the clique with a label comes last."""
    a = np.kron(np.eye(3), np.ones((4, 4))) - np.eye(12)
    a[3, 4] = a[4, 3] = 1
    part = communities(sp.csr_array(a), 10, np.random.default_rng(0))
    assert [len(set(part[k : k + 4])) for k in (0, 4, 8)] == [1, 1, 1]
    found = Partition()(bundles([0], adjacency=sp.csr_array(a)), 2).nodes
    assert sorted(u // 4 for u in found) == [1, 2]


def test_mixture_shares() -> None:
    """Half and half; the first alone before any label; with a shift, less of the first as labels grow."""
    p = np.stack([np.linspace(0.5, 1, 12), np.linspace(0.5, 0, 12)], axis=1)
    half = Mixture(Random(), Margin())
    assert np.isfinite(half(bundles(probabilities=p), 4).probability).sum() == 2
    assert np.isfinite(half(bundles(), 4).probability).all()
    shifting = Mixture(Random(), Margin(), shift=1.0)
    drawn = [int(np.isfinite(shifting(bundles(list(range(m)), probabilities=p), 4).probability).sum()) for m in (1, 6)]
    assert drawn == [3, 1]
