"""Weights of given labels, which of them are a sample, and values of a graph, which are computed once."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import numpy as np

import drgst
from drgst.datasets.synthetic import block_model
from drgst.graph.split import Split, random_split
from drgst.selftrain.problem import GraphCache, Problem
from drgst.selftrain.settings import Settings


def problem() -> Problem:
    """Four labels of class 0, two of class 1, one of class 2."""
    graph = block_model(60, 150, seed=0, classes=3, features=20, words=4)
    train = np.concatenate([np.flatnonzero(graph.labels == c)[:k] for c, k in enumerate((4, 2, 1))])
    none = np.empty(0, dtype=np.int64)
    return Problem.of(graph, Split.of(train, none, none, 60), Settings())


def test_labels_that_were_asked_for_weigh_the_same_per_class() -> None:
    """Without a mask every label weighs 1; with one the labels of each class weigh a third, in the mean 1."""
    whole = problem()
    assert whole.true_weights.tolist() == [1.0] * 7
    assert whole.train_sampled.all()
    sampled = np.ones(60, dtype=bool)
    sampled[whole.split.train[:2]] = False
    asked = replace(whole, sampled=sampled)
    labels = whole.graph.labels[whole.split.train]
    np.testing.assert_allclose([asked.true_weights[labels == c].sum() for c in range(3)], 7 / 3)
    np.testing.assert_array_equal(asked.train_sampled, sampled[whole.split.train])
    given = replace(asked, sample_weight=np.arange(60.0))
    np.testing.assert_allclose(given.true_weights.mean(), 1)


def test_without_any_sample_all_labels_calibrate() -> None:
    assert replace(problem(), sampled=np.zeros(60, dtype=bool)).train_sampled.all()


def test_a_value_is_made_once_for_graphs_that_differ_in_labels_alone(world: Any) -> None:
    cache, made = GraphCache(), []

    def make() -> int:
        made.append(1)
        return len(made)

    other_labels = world.graph.with_(labels=np.zeros(60, dtype=np.int64))
    for graph in (world.graph, other_labels, world.graph):
        assert cache.get(graph, "value", make) == 1
    assert cache.get(world.graph, "other", make) == 2


def test_another_graph_empties_it(world: Any, worlds: Any) -> None:
    cache = GraphCache()
    assert cache.get(world.graph, "value", lambda: 1) == 1
    other = worlds(nodes=90).graph
    assert cache.get(other, "value", lambda: 2) == 2
    assert cache.get(other.with_(features=other.features.copy()), "value", lambda: 3) == 3
    assert cache.get(world.graph, "value", lambda: 4) == 4


def test_a_finished_run_releases_its_graph() -> None:
    """Nothing in the process refers to the matrices of a graph once its user has let go of graph and model."""
    graph = block_model(200, 600, seed=1, classes=3, features=60)
    split = random_split(graph, per_class=4, val=0, test=60, seed=0)
    adjacency, features = weakref.ref(graph.adjacency), weakref.ref(graph.features)
    model = drgst.SelfTraining("drgst-plus").fit(graph, split)
    assert len(model.history_) == 6
    del graph, model
    gc.collect()
    assert adjacency() is None
    assert features() is None
