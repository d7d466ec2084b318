"""Which nodes to label next: scores, clusters, limits."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.errors import SettingError
from drgst.runs.suggest import label_scores, suggest_nodes


def directions(*angles: float) -> np.ndarray:
    """Points on the unit circle, (N, 2)."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_one_of_each_cluster_typical_and_of_high_gain() -> None:
    """Three bundles of four: of each the node nearest the bundle's centre among the upper half in gain."""
    angles = [*(0.0, 0.01, 0.02, 0.3), *(2.0, 2.01, 2.02, 2.3), *(4.0, 4.01, 4.02, 4.3)]
    gain = np.array([1, 5, 5, 6, 0.1, 0.5, 0.5, 0.6, 10, 50, 50, 60.0])
    found = suggest_nodes(directions(*angles), (gain, "information gain"), np.arange(12), 3)
    assert [u // 4 for u in found.nodes] == [2, 0, 1]  # the bundle with the largest gain first
    assert found.score.tolist() == [50, 5, 0.5]
    assert found.cluster_size.tolist() == [4, 4, 4]


def test_only_candidates_and_each_once() -> None:
    """Also where all embeddings are equal, or zero, and there are fewer clusters than nodes to suggest."""
    candidates = np.array([1, 3, 5, 7, 9])
    for embedding in (np.ones((12, 3)), np.zeros((12, 3)), np.random.default_rng(0).normal(size=(12, 3))):
        found = suggest_nodes(embedding, (np.arange(12.0), "gain"), candidates, 3)
        assert set(found.nodes) <= set(candidates)
        assert len(set(found.nodes)) == 3
        assert (np.diff(found.score) <= 0).all()


def test_entropy_where_there_is_no_gain() -> None:
    """All gains zero, or unknown: the least certain nodes."""
    p = np.stack([np.linspace(0.5, 1, 12), np.linspace(0.5, 0, 12)], axis=1)
    for gain in (np.zeros(12), np.full(12, np.nan)):
        found = suggest_nodes(p, label_scores(gain, p, np.arange(12)), np.arange(12), 20)
        assert found.measure == "entropy"
        assert found.nodes.tolist() == list(range(12))
        assert found.score[0] == pytest.approx(np.log(2))


def test_gain_where_it_is_known() -> None:
    """Negative values, which sampling can give, count as 0; nodes that are no candidates may be unknown."""
    gain = np.array([0.3, -0.1, np.nan])
    score, measure = label_scores(gain, np.eye(3), np.array([0, 1]))
    assert measure == "information gain"
    assert score[:2].tolist() == [0.3, 0]


def test_limits() -> None:
    """More than there are gives all, best first; fewer than one is refused; the same seed gives the same nodes."""
    scores = (np.arange(12.0), "gain")
    points = directions(*scores[0])
    assert suggest_nodes(points, scores, np.arange(5), 50).nodes.tolist() == [4, 3, 2, 1, 0]
    with pytest.raises(SettingError, match="at least 1"):
        suggest_nodes(points, scores, np.arange(5), 0)
    again = [suggest_nodes(points, scores, np.arange(12), 4, seed=3).nodes.tolist() for _ in "ab"]
    assert again[0] == again[1]
