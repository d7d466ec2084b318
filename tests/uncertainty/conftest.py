"""A trained GCN on Cora, and a small random graph with weights and an isolated node."""

from dataclasses import dataclass

import numpy as np
import pytest

from drgst.graph.core import Graph, make_graph
from drgst.graph.split import public_split
from drgst.nn.inputs import Inputs, make_inputs
from drgst.nn.losses import WeightedLoss
from drgst.nn.networks import GCN
from drgst.nn.random import generator, seeded_torch
from drgst.nn.training import NetworkTrainer, Schedule, ValidationSet


@dataclass(frozen=True)
class TrainedNetwork:
    """A network and the tensors it was trained on."""

    network: GCN
    inputs: Inputs
    graph: Graph


@pytest.fixture(scope="session")
def trained_cora(cora: Graph) -> TrainedNetwork:
    """A GCN of 16 hidden units after 60 epochs on Cora's public split."""
    split = public_split(cora)
    rng = generator(0)
    with seeded_torch(rng):
        network = GCN(cora.num_features, cora.num_classes, hidden=16)
    inputs = make_inputs(cora, normalise="l1")
    objective = WeightedLoss(split.train, cora.labels[split.train], np.ones(split.train.size))
    validation = ValidationSet(split.val, cora.labels[split.val])
    NetworkTrainer(network, inputs, objective, validation, Schedule(epochs=60), rng).fit()
    return TrainedNetwork(network, inputs, cora)


@pytest.fixture(scope="session")
def weighted() -> TrainedNetwork:
    """60 nodes, edge weights from 0.2 to 3, the last node alone, and an untrained GCN."""
    rng = np.random.default_rng(0)
    a = np.triu(rng.random((60, 60)) < 0.1, 1) * rng.uniform(0.2, 3.0, size=(60, 60))
    a[:, 59] = 0
    graph = make_graph(rng.normal(size=(60, 5)), a + a.T, np.arange(60) % 3)
    with seeded_torch(generator(1)):
        network = GCN(5, 3, hidden=6)
    return TrainedNetwork(network, make_inputs(graph, normalise="none"), graph)
