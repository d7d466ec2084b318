"""A trained GCN on Cora, and a small random graph with weights and an isolated node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from drgst.graph.core import Graph, make_graph
from drgst.graph.splits import public
from drgst.nn.inputs import Inputs, make_inputs
from drgst.nn.losses import WeightedLoss
from drgst.nn.models.gcn import GCN
from drgst.nn.random import generator
from drgst.nn.training import Schedule, Watch, fit, private_randomness


@dataclass(frozen=True)
class Taught:
    """A network and the tensors it was trained on."""

    network: GCN
    inputs: Inputs
    graph: Graph


@pytest.fixture(scope="session")
def taught_cora(cora: Graph) -> Taught:
    """A GCN of 16 hidden units after 60 epochs on Cora's public split."""
    split = public(cora)
    rng = generator(0)
    with private_randomness(rng):
        network = GCN(cora.num_features, cora.num_classes, hidden=16)
    inputs = make_inputs(cora, normalise="l1")
    objective = WeightedLoss(split.train, cora.labels[split.train], np.ones(split.train.size))
    watch = Watch(split.val, cora.labels[split.val])
    fit(network, inputs, objective, watch, Schedule(epochs=60), rng)
    return Taught(network, inputs, cora)


@pytest.fixture(scope="session")
def weighted() -> Taught:
    """60 nodes, edge weights from 0.2 to 3, the last node alone, and an untrained GCN."""
    rng = np.random.default_rng(0)
    a = np.triu(rng.random((60, 60)) < 0.1, 1) * rng.uniform(0.2, 3.0, size=(60, 60))
    a[:, 59] = 0
    graph = make_graph(rng.normal(size=(60, 5)), a + a.T, np.arange(60) % 3)
    with private_randomness(generator(1)):
        network = GCN(5, 3, hidden=6)
    return Taught(network, make_inputs(graph, normalise="none"), graph)
