"""Clusters aligned with classes as computed by hand, and k-means at its limits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.nn.random import generator
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.slots.select import ClusterChecked, align, class_centroids, kmeans, unit


def test_alignment_by_hand() -> None:
    """Centroids (1, 0) and (0, 2). ‖(1, 1) - ·‖² = 1 and 2: class 0; (0, 1.4): 2.96 and 0.36: class 1."""
    h = np.array([[0.5, 0], [1.5, 0], [0, 2]])
    centroids = class_centroids(h, np.arange(3), np.array([0, 0, 1]), 2)
    np.testing.assert_allclose(centroids, [[1, 0], [0, 2]])
    assert align(np.array([[1.0, 1.0], [0.0, 1.4]]), centroids).tolist() == [0, 1]


def test_unit_rows() -> None:
    np.testing.assert_allclose(unit(np.array([[3.0, 4.0], [0, 0]])), [[0.6, 0.8], [0, 0]])


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


def test_m3s_keeps_what_it_trusts(world: Any) -> None:
    """Every stage adds at most top/K a class to what was there before, with unchanged labels."""
    history = world.run("m3s", top=6, stages=3)
    chosen = [stage.pseudo_labels for stage in history.stages]
    sets = [dict(zip(pseudo.nodes.tolist(), pseudo.labels.tolist(), strict=True)) for pseudo in chosen]
    assert len(sets[-1]) > 0
    for before, after in pairwise(sets):
        assert before.items() <= after.items()
        assert len(after) - len(before) <= 2 * 3
