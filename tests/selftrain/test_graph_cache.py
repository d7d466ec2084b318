"""Values of a graph: made once, never those of another graph, and released with their owner."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np

import drgst
from drgst.datasets.synthetic import block_model
from drgst.graph.split import random_split
from drgst.selftrain.graph_cache import GraphCache


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
