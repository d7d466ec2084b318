"""Select parts by hand: threshold, ranks, shares, combinations, clusters, and what was selected before."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split, per_class_split
from drgst.nn.random import generator
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.engine import self_train
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.select import (
    Accumulate,
    ClusterChecked,
    Intersection,
    Margin,
    Threshold,
    TopPerClass,
    TopShare,
    Union,
    align,
    best_of_each,
    class_centroids,
    class_counts,
    expansion,
    kmeans,
)
from drgst.selftrain.slots.stop import MaxStages


def test_threshold_takes_confident_pool_nodes(beliefs, world) -> None:
    pseudo = Threshold(0.6)(beliefs)
    wanted = [u for u in world.split.pool if beliefs.probabilities[u].max() > 0.6]
    np.testing.assert_array_equal(pseudo.nodes, wanted)
    np.testing.assert_array_equal(pseudo.labels, beliefs.probabilities[wanted].argmax(axis=1))
    assert 0 < len(wanted) < world.split.pool.size


def test_threshold_is_strict(beliefs) -> None:
    """r_u > τ: a confidence of exactly τ is not enough."""
    even = replace(beliefs, logits=np.zeros((60, 2)))
    assert Threshold(0.5)(even).nodes.size == 0
    assert Threshold(0.4999)(even).nodes.size == beliefs.split.pool.size


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
    dense = make_graph(None, np.ones((20, 20)) - np.eye(20), [0, 1, 1] + [-1] * 17)
    assert expansion(dense, np.array([0, 1, 1])).tolist() == [1, 1]  # never none at all


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


def test_a_share_of_t_k() -> None:
    """76 in four parts are 19, and never none."""
    beliefs = made([[0.9, 0.1], [0.2, 0.8]] + [[0.7, 0.3]] * 30, [0, 1], [0, 1])
    assert TopPerClass(20, share=4)(beliefs).nodes.size == 5
    assert TopPerClass(2, share=4)(beliefs).nodes.size == 1


@pytest.mark.parametrize(("stage", "share"), [(1, 0.4), (2, 0.6), (3, 0.7), (4, 0.7), (9, 0.7)])
def test_the_share_of_a_stage(beliefs: Beliefs, stage: int, share: float) -> None:
    pseudo = TopShare(floor=0)(replace(beliefs, next_stage=stage))
    pool = beliefs.split.pool
    assert pseudo.nodes.size == int(share * pool.size)
    assert np.isin(pseudo.nodes, pool).all()
    left = np.setdiff1d(pool, pseudo.nodes)
    assert beliefs.confidence[pseudo.nodes].min() >= beliefs.confidence[left].max()
    np.testing.assert_array_equal(pseudo.labels, beliefs.predictions[pseudo.nodes])


def test_no_class_is_starved(beliefs: Beliefs) -> None:
    """Class 0 is predicted with the least confidence of all; with a floor it still gives its part."""
    pool = beliefs.split.pool
    logits = np.zeros((60, 3))
    logits[np.arange(60), 1] = 5.0
    timid = pool[:10]
    logits[timid] = [0.1, 0.0, 0.0]
    seen = replace(beliefs, logits=logits)
    assert not np.isin(TopShare(floor=0)(seen).nodes, timid).any()
    pseudo = TopShare(floor=0.75)(seen)
    assert np.isin(timid, pseudo.nodes).sum() == int(0.75 * 0.4 * 10)
    assert np.isin(pseudo.nodes, pool).all()
    assert np.unique(pseudo.nodes).size == pseudo.nodes.size


def test_of_a_large_pool_every_kth_node(beliefs: Beliefs) -> None:
    pool = beliefs.split.pool
    few = -(-pool.size // 3)
    pseudo = TopShare(floor=0, most=few)(beliefs)
    assert np.isin(pseudo.nodes, pool[::3]).all()
    assert pseudo.nodes.size == int(0.4 * pool[::3].size)


def fixed(nodes: list[int], labels: list[int]) -> Any:
    """A select part that always gives the same."""
    return lambda _: PseudoLabels.of(np.array(nodes, np.int64), np.array(labels, np.int64))


A = fixed([30, 31, 32], [0, 1, 2])
B = fixed([31, 32, 33], [1, 0, 2])


def as_dict(pseudo: PseudoLabels) -> dict[int, int]:
    """Node -> label."""
    return dict(zip(pseudo.nodes.tolist(), pseudo.labels.tolist(), strict=True))


def test_union_keeps_the_label_of_the_first(beliefs: Beliefs) -> None:
    assert as_dict(Union(A, B)(beliefs)) == {30: 0, 31: 1, 32: 2, 33: 2}


def test_intersection_needs_the_same_class(beliefs: Beliefs) -> None:
    assert as_dict(Intersection(A, B)(beliefs)) == {31: 1}
    assert Intersection(A, fixed([], []))(beliefs).nodes.size == 0


def test_the_rest_of_the_pool_is_selected_from(beliefs: Beliefs) -> None:
    first = TopPerClass(2)(beliefs)
    later = replace(beliefs, previous=first, logits=-beliefs.logits)
    both = Accumulate(TopPerClass(2))(later)
    kept = np.isin(both.nodes, first.nodes)
    np.testing.assert_array_equal(both.nodes[kept], first.nodes)
    np.testing.assert_array_equal(both.labels[kept], first.labels)
    np.testing.assert_array_equal(both.nodes[~kept], TopPerClass(2)(replace(later, excluded=first.nodes)).nodes)
    assert TopPerClass(2)(later).nodes.size < both.nodes.size, "without it, only the new ones"


def test_stages_add_to_one_another(world) -> None:
    """A node stays though the inner part no longer selects it."""
    pool = world.split.pool
    calls = iter(range(10))

    def one_each(beliefs):  # type: ignore[no-untyped-def]
        return PseudoLabels.of(pool[[next(calls)]], np.array([1]))

    done = self_train(world.problem(), Recipe(select=Accumulate(one_each), stop=(MaxStages(2),)))
    np.testing.assert_array_equal(done[2].pseudo_labels.nodes, pool[:2])
    entered = done.entered(60, world.split.train)
    assert (entered[pool[0]], entered[pool[1]], entered[pool[2]]) == (1, 2, -1)


def test_alignment_by_hand() -> None:
    """Centroids (1, 0) and (0, 2). ‖(1, 1) - ·‖² = 1 and 2: class 0; (0, 1.4): 2.96 and 0.36: class 1."""
    h = np.array([[0.5, 0], [1.5, 0], [0, 2]])
    centroids = class_centroids(h, np.arange(3), np.array([0, 0, 1]), 2)
    np.testing.assert_allclose(centroids, [[1, 0], [0, 2]])
    assert align(np.array([[1.0, 1.0], [0.0, 1.4]]), centroids).tolist() == [0, 1]


def test_more_clusters_than_nodes() -> None:
    """As many as there are nodes, no error; mini-batches may leave a centre without a node."""
    centres, member = kmeans(np.eye(3), 200, generator(0))
    assert centres.shape == (3, 3)
    assert set(member.tolist()) <= {0, 1, 2}


def two_camps() -> Beliefs:
    """Labelled nodes 0 and 1 at (1, 0) and (0, 1); pool nodes 2-4 beside node 0, 5-7 beside node 1."""
    near = np.array([[1.0, 0.05], [1, 0.1], [1, 0.0]])
    embedding = np.vstack([[1.0, 0], [0, 1.0], near, near[:, ::-1]])
    logits = np.full((8, 2), 0.0)
    logits[[2, 3, 5, 6], [0, 1, 1, 1]] = 3.0  # node 3 is said to be of class 1, against its camp
    logits[[4, 7], [0, 0]] = 1.0  # node 7 of class 0, against its camp
    graph = make_graph(None, np.diag(np.ones(7), 1), [0, 1] + [-1] * 6)
    return Beliefs(logits, graph, Split.of([0, 1], [], [], 8), 0, embedding, np.zeros(8, np.float32))


def everything(beliefs: Beliefs) -> PseudoLabels:
    """The whole pool as predicted."""
    pool = beliefs.split.pool
    return PseudoLabels.of(pool, beliefs.predictions[pool])


def test_only_what_the_cluster_confirms() -> None:
    pseudo = ClusterChecked(everything, clusters=2)(two_camps())
    assert pseudo.nodes.tolist() == [2, 4, 5, 6]
    assert pseudo.labels.tolist() == [0, 0, 1, 1]


def test_the_usual_number_of_clusters() -> None:
    """min(200, 6 // 5) = 1 cluster for six nodes: it can confirm one class only."""
    labels = ClusterChecked(everything)(two_camps()).labels
    assert np.unique(labels).size == 1
