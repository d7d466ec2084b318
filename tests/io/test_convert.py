"""SciPy and NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.errors import GraphError

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    "labels", [[5, -1, 9], [5.0, np.nan, 9.0], ["5", None, "9"], {0: 5, 2: 9}, {"0": "5", "2": "9", "1": None}]
)
def test_a_label_vector_or_dict(labels: object) -> None:
    graph = drgst.from_scipy(sp.csr_matrix(PATH), labels, np.eye(3))
    assert graph.labels.tolist() == [0, -1, 1]
    assert graph.class_names == ("5", "9")
    assert graph.num_edges == 2


def test_a_dict_by_node_id() -> None:
    graph = drgst.from_scipy(PATH, {"b": "x", "c": "y"}, node_ids=["a", "b", "c"])
    assert graph.labels.tolist() == [-1, 0, 1]
    with pytest.raises(GraphError, match="labels name node 'z'"):
        drgst.from_scipy(PATH, {"z": "x", "c": "y"}, node_ids=["a", "b", "c"])


def test_directed_input_is_made_undirected_and_that_is_said() -> None:
    graph = drgst.from_scipy(np.triu(PATH), [0, 1, 1])
    assert graph.adjacency.toarray().tolist() == PATH.tolist()
    assert graph.notes == ("directed edges were made undirected",)


@pytest.mark.parametrize(
    ("adjacency", "labels", "message"),
    [
        (np.zeros((0, 0)), [], "empty"),
        (np.zeros((2, 3)), [0, 1], "square"),
        (np.zeros(3), [0, 1, 1], "square"),
        (PATH, [0, 1], "2 labels for 3 nodes"),
        (PATH, [0, -2, 1], "label -2 is not allowed"),
        (PATH, [-1, -1, -1], "all labels are missing"),
        (PATH, {}, "all labels are missing"),
        (PATH, [1, 1, 1], "one class only"),
        (-PATH, [0, 1, 1], "weight -1"),
    ],
)
def test_bad_input(adjacency: np.ndarray, labels: object, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        drgst.from_scipy(adjacency, labels)


def test_negative_ids_are_refused() -> None:
    with pytest.raises(GraphError, match="node id -4 is negative"):
        drgst.from_scipy(PATH, [0, 1, 1], node_ids=[1, -4, 2])


def test_networkx_there_and_back() -> None:
    graph = nx.Graph(name="club")
    graph.add_node("a", label="x", features=[1, 2])
    graph.add_node("b", features=[3, 4])
    graph.add_node("c", label="y", features=[5, 6])
    graph.add_edge("a", "b", weight=2.5)
    ours = drgst.from_networkx(graph)
    assert ours.name == "club"
    assert ours.labels.tolist() == [0, -1, 1]
    assert ours.features.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert ours.adjacency[1, 0] == 2.5
    assert ours.notes == ()
    back = drgst.to_networkx(ours)
    assert nx.utils.edges_equal(back.edges(data="weight"), graph.edges(data="weight"))
    assert {n: d.get("label") for n, d in back.nodes(data=True)} == {"a": "x", "b": None, "c": "y"}
    assert back.nodes["c"]["features"].tolist() == [5, 6]


def test_networkx_directed_and_parallel_edges() -> None:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from([(0, {"label": 0}), (1, {"label": 1}), (2, {})])
    graph.add_edges_from([(0, 1, {"weight": 1}), (0, 1, {"weight": 3}), (1, 0, {"weight": 2}), (2, 2, {})])
    ours = drgst.from_networkx(graph)
    assert ours.adjacency[0, 1] == ours.adjacency[1, 0] == 3
    assert ours.degrees.tolist() == [1, 1, 0]
    assert "1 self-loops were removed" in ours.notes


def test_networkx_bad_input() -> None:
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: 0, 1: 1}, "label")
    graph.nodes[0]["features"] = [1.0]
    with pytest.raises(GraphError, match="node 1 has no attribute 'features'"):
        drgst.from_networkx(graph)
    nx.set_node_attributes(graph, {0: [1.0], 1: [1.0, 2.0], 2: [1.0]}, "features")
    with pytest.raises(GraphError, match="node 1 has 2 features"):
        drgst.from_networkx(graph)
    nx.set_node_attributes(graph, "many", "features")
    with pytest.raises(GraphError, match="sequence of numbers"):
        drgst.from_networkx(graph)
    nx.set_edge_attributes(graph, "heavy", "weight")
    with pytest.raises(GraphError, match="'weight' is not always a number"):
        drgst.from_networkx(graph)
    with pytest.raises(GraphError, match="empty"):
        drgst.from_networkx(nx.Graph())
