"""Features from the edges alone."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.errors import GraphError
from drgst.graph.core import Graph, make_graph
from drgst.transforms.structure import COLUMNS, StructureMap


def graph_of(a: np.ndarray) -> Graph:
    return make_graph(None, a, np.full(len(a), -1), class_names=["a", "b"], unlabelled=True)


def features_of(a: np.ndarray) -> np.ndarray:
    graph = graph_of(a)
    return StructureMap.fit(graph)(graph)


def test_two_cliques_are_told_apart_and_small_graphs_have_as_many_columns() -> None:
    clique = np.ones((5, 5)) - np.eye(5)
    a = np.block([[clique, np.zeros((5, 5))], [np.zeros((5, 5)), clique]])
    a[4, 5] = a[5, 4] = 1
    x = features_of(a)
    assert x.shape == (10, COLUMNS)
    assert x.dtype == np.float32
    near = x @ x.T
    same = np.kron(np.eye(2), np.ones((5, 5))).astype(bool)
    assert near[same].mean() > near[~same].mean() + 0.5
    np.testing.assert_allclose(x[:, -1].mean(), 0, atol=1e-6)
    assert x[4, -1] > x[0, -1]


def test_without_edges_all_are_zero() -> None:
    assert not features_of(np.zeros((4, 4))).any()
    assert features_of(np.zeros((1, 1))).shape == (1, COLUMNS)


def test_known_nodes_keep_their_rows_and_new_ones_lie_beside_their_neighbours() -> None:
    """A subgraph, the graph with a new node in the second clique, and another graph, which is refused."""
    rng = np.random.default_rng(0)
    same = np.kron(np.eye(2), np.ones((100, 100)))
    a = np.triu(rng.random((200, 200)) < 0.02 + 0.2 * same, 1).astype(float)
    fitted = graph_of(a + a.T)
    structure = StructureMap.fit(fitted)
    x = structure(fitted)
    part = np.arange(0, 200, 3)
    sub = make_graph(
        None, fitted.adjacency[part][:, part], np.full(part.size, -1), class_names=["a", "b"], unlabelled=True
    )
    np.testing.assert_array_equal(structure(sub.with_(node_ids=fitted.node_ids[part]))[:, :-1], x[part, :-1])
    larger = np.zeros((201, 201))
    larger[:200, :200] = a
    larger[130:150, 200] = 1
    y = structure(graph_of(larger + larger.T))
    np.testing.assert_array_equal(y[:200, :-1], x[:, :-1])
    near = y[:200, :-1] @ y[200, :-1]
    assert near[100:].mean() > near[:100].mean() + 0.3
    b = np.triu(rng.random((200, 200)) < 0.02 + 0.2 * same, 1).astype(float)
    other = graph_of(b + b.T)
    for strange in (other, other.with_(node_ids=np.array([f"n{k}" for k in range(200)]))):
        with pytest.raises(GraphError, match="say nothing about another graph"):
            structure(strange)
