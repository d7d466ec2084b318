"""A six-node weighted graph with one isolated node, small enough for dense formulas."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from drgst.graph.core import Graph, make_graph
from drgst.nn.inputs import Inputs, make_inputs
from drgst.nn.random import generator, seeded_torch
from drgst.nn.registry import make_backbone

EDGES = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]])  # node 5 is isolated
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
FEATURES, CLASSES = 4, 3


@pytest.fixture
def graph() -> Graph:
    """Six nodes, weighted edges, sparse features."""
    half = sp.csr_array((WEIGHTS, (EDGES[:, 0], EDGES[:, 1])), shape=(6, 6))
    x = np.random.default_rng(1).random((6, FEATURES)) * (np.arange(24).reshape(6, 4) % 5 == 0)
    return make_graph(sp.csr_array(x), half + half.T, np.array([0, 1, 2, 0, 1, 2]))


@pytest.fixture
def inputs(graph: Graph) -> Inputs:
    """X sparse and A of the six-node graph."""
    return make_inputs(graph, normalise="none")


@pytest.fixture
def ring() -> Inputs:
    """Forty nodes on a ring with some chords: some nodes are far from node 0."""
    ends = np.array([(i, (i + 1) % 40) for i in range(40)] + [(0, 2), (5, 8), (20, 23)])
    half = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(40, 40))
    rng = np.random.default_rng(2)
    x = sp.csr_array(rng.random((40, FEATURES)) * (rng.random((40, FEATURES)) < 0.22))
    return make_inputs(make_graph(x, half + half.T, np.arange(40) % CLASSES))


@pytest.fixture
def build() -> Callable[..., Any]:
    """``build("gcn", seed=0, …)``: a network with seeded weights, biases too, in evaluation mode."""

    def build(name: str, seed: int = 0, hidden: int = 8, **extra: Any) -> Any:
        with seeded_torch(generator(seed)):
            network = make_backbone(name, FEATURES, CLASSES, hidden=hidden, start="uniform", **extra)
            with torch.no_grad():
                for part in network.parameters():
                    part.add_(0.05 * torch.randn_like(part))  # moves biases off their neutral start
        return network.eval()

    return build
