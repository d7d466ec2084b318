"""ParWalks against a dense inverse, lists of classes, components without labels, and systems that can't be solved."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drgst.errors import SettingError
from drgst.graph.core import Graph, make_graph
from drgst.selftrain.slots.walks import best_reached, walk_scores

EPSILON = 1e-6


def dense(graph: Graph, nodes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The definition: columns of the inverse, summed class by class."""
    a = graph.adjacency.toarray().astype(np.float64)
    p = np.linalg.inv(np.diag(a.sum(axis=1)) - a + EPSILON * np.eye(a.shape[0]))
    return np.stack([p[:, nodes[labels == k]].sum(axis=1) for k in range(graph.num_classes)], axis=1)


def test_against_a_dense_inverse(worlds: Callable[..., Any]) -> None:
    world = worlds()
    train = world.split.train
    labels = world.graph.labels[train]
    ours = walk_scores(world.graph, train, labels, EPSILON)
    np.testing.assert_allclose(ours, dense(world.graph, train, labels), rtol=1e-7)


def test_a_path_of_three_by_hand() -> None:
    """0 - 1 - 2 with ε = 1: D - A + I = [[2,-1,0],[-1,3,-1],[0,-1,2]], whose inverse is [[5,2,1],[2,4,2],[1,2,5]]/8."""
    graph = make_graph(None, np.diag(np.ones(2), 1), [0, -1, 1])
    scores = walk_scores(graph, np.array([0, 2]), np.array([0, 1]), 1.0)
    np.testing.assert_allclose(scores, np.array([[5, 1], [2, 2], [1, 5]]) / 8)


def test_a_node_of_two_lists_gets_the_higher_score() -> None:
    """Node 1 leads both lists and scores higher for class 1: class 0 is left with node 0; none reaches node 3."""
    scores = np.array([[0.4, 0.1], [0.6, 0.9], [0.1, 0.3], [0.0, 0.0]])
    pseudo = best_reached(scores, np.arange(4), np.array([2, 2]))
    assert dict(zip(pseudo.nodes.tolist(), pseudo.labels.tolist(), strict=True)) == {0: 0, 1: 1, 2: 1}
    only = best_reached(scores, np.arange(4), np.array([1, 1]))
    assert (only.nodes.tolist(), only.labels.tolist()) == ([1], [1])


def test_a_component_without_labels_is_never_chosen() -> None:
    """0 - 1 - 2 has both labels, 3 - 4 none, 5 stands alone: only node 1 can be reached."""
    a = np.zeros((6, 6))
    a[0, 1] = a[1, 2] = a[3, 4] = 1
    graph = make_graph(None, a, [0, -1, 1, -1, -1, -1])
    scores = walk_scores(graph, np.array([0, 2]), np.array([0, 1]), EPSILON)
    assert (scores[3:] == 0).all()
    assert (scores[:3] > 0).all()
    pseudo = best_reached(scores, np.array([1, 3, 4, 5]), np.array([76, 76]))
    assert pseudo.nodes.tolist() == [1]


@pytest.mark.parametrize("epsilon", [0.0, -1e-6, 1e-300])
def test_a_singular_system_is_refused(epsilon: float) -> None:
    """1e-300 is above 0 but lost in 1 + 1e-300: the factorisation finds a zero pivot and says so."""
    graph = make_graph(None, np.diag(np.ones(2), 1), [0, -1, 1])
    with pytest.raises(SettingError, match=f"walk_epsilon is {epsilon}.*singular"):
        walk_scores(graph, np.array([0, 2]), np.array([0, 1]), epsilon)
