"""Medoids, dense nodes, far nodes, communities, information gain and mixtures on small pictures."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.decide.choosers.base import LabelState
from drgst.decide.choosers.gain import InformationGain
from drgst.decide.choosers.mixture import Mixture
from drgst.decide.choosers.partition import Partition, communities
from drgst.decide.choosers.representative import Density, KCenter, Medoids
from drgst.decide.choosers.sample import Random
from drgst.decide.choosers.uncertain import Entropy, Margin

ANGLES = np.array([*(0.0, 0.01, 0.02, 0.3), *(2.0, 2.01, 2.02, 2.3), *(4.0, 4.01, 4.02, 4.3)])
BUNDLES = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)  # three bundles of four nodes on the unit circle


def state(labelled: list[int] | None = None, **more: object) -> LabelState:
    known = np.array(labelled or [], dtype=np.int64)
    free = np.setdiff1d(np.arange(12), known)
    return LabelState(BUNDLES, free, known, np.random.default_rng(0), **more)  # type: ignore[arg-type]


def test_medoids_are_typical_nodes_of_each_bundle() -> None:
    assert sorted(u // 4 for u in Medoids()(state(), 3).nodes) == [0, 1, 2]
    assert not np.isin(Medoids()(state(), 3).nodes, [3, 7, 11]).any()


def test_k_center_takes_the_farthest() -> None:
    found = KCenter()(state([0]), 2).nodes
    assert sorted(u // 4 for u in found) == [1, 2]


def test_density_avoids_labels_and_outliers() -> None:
    found = Density()(state([0]), 2).nodes
    assert sorted(u // 4 for u in found) == [1, 2]


def test_gain_takes_the_typical_upper_half_of_each_cluster() -> None:
    """The bundle with the largest gain first, and of it not the outlier of largest gain."""
    gain = np.array([1, 5, 5, 6, 0.5, 2, 2, 3, 2, 9, 9, 10.0])
    found = InformationGain()(state(probabilities=np.full((12, 2), 0.5), gain=gain), 3).nodes
    assert [u // 4 for u in found] == [2, 0, 1]
    assert gain[found].tolist() == [9, 5, 2]


def test_entropy_where_there_is_no_gain() -> None:
    p = np.stack([np.linspace(0.5, 1, 12), np.linspace(0.5, 0, 12)], axis=1)
    for gain in (np.zeros(12), np.full(12, np.nan), None):
        scores = InformationGain().scores(state(probabilities=p, gain=gain))
        assert (np.diff(scores) < 0).all()
    assert Entropy()(state(probabilities=p), 3).nodes.tolist() == [0, 1, 2]
    assert Margin()(state(probabilities=p), 3).nodes.tolist() == [0, 1, 2]


def test_communities_and_their_typical_nodes() -> None:
    """Three cliques of four that one edge joins; the clique with a label comes last."""
    a = np.kron(np.eye(3), np.ones((4, 4))) - np.eye(12)
    a[3, 4] = a[4, 3] = 1
    part = communities(sp.csr_array(a), 10, np.random.default_rng(0))
    assert [len(set(part[k : k + 4])) for k in (0, 4, 8)] == [1, 1, 1]
    found = Partition()(state([0], adjacency=sp.csr_array(a)), 2).nodes
    assert sorted(u // 4 for u in found) == [1, 2]


def test_mixture_shares() -> None:
    """Half and half; the first alone before any label; with a shift, less of the first as labels grow."""
    p = np.stack([np.linspace(0.5, 1, 12), np.linspace(0.5, 0, 12)], axis=1)
    half = Mixture(Random(), Margin())
    assert np.isfinite(half(state(probabilities=p), 4).probability).sum() == 2
    assert np.isfinite(half(state(), 4).probability).all()
    shifting = Mixture(Random(), Margin(), shift=1.0)
    drawn = [int(np.isfinite(shifting(state(list(range(m)), probabilities=p), 4).probability).sum()) for m in (1, 6)]
    assert drawn == [3, 1]
