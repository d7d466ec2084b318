"""A graph small enough to work out by hand, a GCN with known weights, and dense NumPy forms of both."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from drgst.graph.core import Graph, make_graph
from drgst.nn.inputs import Inputs, make_inputs
from drgst.nn.networks import GCN


@dataclass(frozen=True)
class Small:
    """Five nodes: a triangle 0-1-2, a tail 2-3, and node 4 alone; three features, two hidden units, two classes."""

    graph: Graph
    inputs: Inputs
    network: GCN
    a: np.ndarray  # (5, 5)
    x: np.ndarray  # (5, 3)
    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray

    def hidden(self) -> np.ndarray:
        """ReLU(𝔑(A) X W₁ + b₁) in float64."""
        return np.maximum(normalise(self.a) @ self.x @ self.w1 + self.b1, 0)


def normalise(a: np.ndarray) -> np.ndarray:
    """𝔑(A) = D̃^-½ (A + I) D̃^-½, D̃ the row sums of A + I, in float64."""
    loops = a + np.eye(len(a))
    root = loops.sum(axis=1) ** -0.5
    return root[:, None] * loops * root[None, :]


@pytest.fixture(scope="session")
def small() -> Small:
    """The small graph and a GCN with round weights on it; features are taken as they are."""
    a = np.zeros((5, 5))
    for u, v in ((0, 1), (1, 2), (0, 2), (2, 3)):
        a[u, v] = a[v, u] = 1
    x = np.array([[1, 0, 2], [0, 1, 1], [3, 0, 0], [1, 1, 0], [0, 2, 1]], dtype=np.float64)
    w1 = np.array([[0.5, -0.25], [0.25, 1.0], [-0.5, 0.75]])
    w2 = np.array([[1.5, -1.0], [-0.5, 2.0]])
    b1, b2 = np.array([0.25, -0.25]), np.array([0.125, -0.125])
    graph = make_graph(x, a, [0, 1, 0, 1, 0])
    network = GCN(3, 2, hidden=2, dropout=0.5)
    with torch.no_grad():
        for parameter, value in (
            (network.weight1, w1),
            (network.weight2, w2),
            (network.bias1, b1),
            (network.bias2, b2),
        ):
            parameter.copy_(torch.from_numpy(value))
    return Small(graph, make_inputs(graph, normalise="none"), network.eval(), a, x, w1, b1, w2, b2)


@pytest.fixture(scope="session")
def dense_norm() -> Callable[[np.ndarray], np.ndarray]:
    """:func:`normalise`."""
    return normalise
