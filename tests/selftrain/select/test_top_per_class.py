"""The best of each class: t_k, ranks by confidence and margin, and fewer nodes than asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split, per_class_split
from drgst.selftrain.beliefs import Beliefs
from drgst.selftrain.select.top_per_class import Margin, TopPerClass, best_of_each, class_counts, expansion


def made(p: list[list[float]], train: list[int], labels: list[int]) -> Beliefs:
    """Beliefs with these probabilities on a path; the nodes of ``train`` have ``labels``, all others are the pool."""
    n = len(p)
    y = np.full(n, -1)
    y[train] = labels
    path = np.diag(np.ones(n - 1), 1)
    names = [str(k) for k in range(len(p[0]))]
    graph = make_graph(np.ones((n, 1)), path, y, class_names=names)
    split = Split.of(train, [], [], n)
    return Beliefs(np.log(np.array(p)), graph, split, 0, np.ones((n, 2)), np.zeros(n, np.float32))


@pytest.mark.parametrize("labels", [3, 20])
def test_t_k_of_cora_is_76(cora: Graph, labels: int) -> None:
    """int(3 · (2708 / 3.898²) / 7) = 76 for each of the seven classes, however many labels each has."""
    split = per_class_split(cora, labels, 0)
    assert expansion(cora, cora.labels[split.train]).tolist() == [76] * 7


def test_t_k_by_hand() -> None:
    """20 nodes on a ring: d̄ = 2, η = 20 / 2² = 5; with 1 and 2 labels t = int(15/3), int(30/3) = 5, 10."""
    ring = np.roll(np.eye(20), 1, axis=1)
    graph = make_graph(None, ring, [0, 1, 1] + [-1] * 17)
    assert expansion(graph, np.array([0, 1, 1])).tolist() == [5, 10]
    assert expansion(graph, np.array([0, 1, 1]), hops=6).tolist() == [1, 1]  # never none at all


def test_as_large_a_part_of_t_k_as_the_pool_is_of_the_unlabelled_nodes() -> None:
    """t = 5 and 10 on the ring of 20; with 7 of the 17 unlabelled nodes in the pool int(5 · 7/17), int(10 · 7/17)."""
    graph = make_graph(np.ones((20, 1)), np.roll(np.eye(20), 1, axis=1), [0, 1, 1] + [-1] * 17)
    logits = np.tile([[2.0, 0.0], [0.0, 2.0]], (10, 1))
    for pool, wanted in ((np.arange(3, 20), [5, 10]), (np.arange(13, 20), [2, 4])):
        split = Split(np.arange(3), np.empty(0, np.int64), np.setdiff1d(np.arange(3, 20), pool), pool)
        beliefs = Beliefs(logits, graph, split, 0, np.ones((20, 2)), np.zeros(20, np.float32))
        assert class_counts(beliefs, None).tolist() == wanted
        assert class_counts(beliefs, 4).tolist() == [4, 4], "a number that was set is not scaled"
        labels = TopPerClass()(beliefs).labels
        assert np.bincount(labels, minlength=2).tolist() == np.minimum(wanted, np.bincount(pool % 2)).tolist()


def test_best_of_each_by_hand() -> None:
    """Two of class 0 (of equal scores the earlier), all of class 1, though three were asked for."""
    score = np.array([0.5, 0.9, 0.9, 0.9, 0.2])
    labels = np.array([0, 0, 0, 0, 1])
    assert best_of_each(score, labels, np.array([2, 3])).tolist() == [1, 2, 4]
    assert best_of_each(score[:0], labels[:0], np.array([2, 3])).size == 0


def test_margin_and_confidence_differ() -> None:
    """Node 2 is surer (0.52), but node 3 leads by more: 0.50 - 0.25 > 0.52 - 0.48."""
    beliefs = made([[1, 1e-9, 1e-9], [1e-9, 1, 1e-9], [0.52, 0.48, 1e-9], [0.50, 0.25, 0.25]], [0, 1], [0, 1])
    assert TopPerClass(1)(beliefs).nodes.tolist() == [2]
    assert Margin(1)(beliefs).nodes.tolist() == [3]
    assert Margin(1)(beliefs).labels.tolist() == [0]


def test_fewer_nodes_than_asked_for() -> None:
    """All of the pool, and never a training node."""
    beliefs = made([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]], [0, 1], [0, 1])
    for part in (TopPerClass(50), Margin(50)):
        pseudo = part(beliefs)
        assert pseudo.nodes.tolist() == [2, 3]
        assert pseudo.labels.tolist() == [0, 1]


def test_excluded_nodes_are_no_candidates() -> None:
    """The next best takes its place."""
    beliefs = made([[0.9, 0.1], [0.2, 0.8], [0.8, 0.2], [0.7, 0.3]], [0, 1], [0, 1])
    assert TopPerClass(1)(beliefs).nodes.tolist() == [2]
    assert TopPerClass(1)(replace(beliefs, excluded=np.array([2]))).nodes.tolist() == [3]


def test_a_share_of_t_k() -> None:
    """76 in four parts are 19, and never none."""
    beliefs = made([[0.9, 0.1], [0.2, 0.8]] + [[0.7, 0.3]] * 30, [0, 1], [0, 1])
    assert TopPerClass(20, share=4)(beliefs).nodes.size == 5
    assert TopPerClass(2, share=4)(beliefs).nodes.size == 1
