"""Graphs of SciPy, NetworkX and PyTorch Geometric."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

import drgst
from drgst.errors import DrgstError, DrgstWarning, GraphError, SplitError
from drgst.graph.core import Graph

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
        (PATH, {}, "all labels are missing"),
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


def data(**changes: Any) -> Data:
    """Four nodes: 0 to 1 and 1 to 2, node 3 alone."""
    parts = {
        "x": torch.arange(8.0).reshape(4, 2),
        "edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
        "y": torch.tensor([0, 1, -1, 1]),
        "train_mask": torch.tensor([True, True, False, False]),
        "val_mask": torch.tensor([False] * 4),
        "test_mask": torch.tensor([False, False, False, True]),
    }
    return Data(**{key: value for key, value in (parts | changes).items() if value is not None})


def test_one_mask_each() -> None:
    graph = drgst.from_pyg(data())
    assert graph.num_nodes == 4
    assert graph.num_edges == 2
    assert graph.labels.tolist() == [0, 1, -1, 1]
    assert [getattr(graph.split, p).tolist() for p in ("train", "val", "test", "pool")] == [[0, 1], [], [3], [2]]
    assert len(graph.splits) == 1
    assert graph.notes == ()


def test_masks_of_several_columns_give_several_splits() -> None:
    train = torch.tensor([[1, 0], [1, 1], [0, 0], [0, 1]], dtype=torch.bool)
    graph = drgst.from_pyg(data(train_mask=train, test_mask=torch.tensor([0, 0, 1, 0], dtype=torch.bool)))
    assert [split.train.tolist() for split in graph.splits] == [[0, 1], [1, 3]]
    assert [split.test.tolist() for split in graph.splits] == [[2], [2]]  # one column serves all
    assert [split.pool.tolist() for split in graph.splits] == [[3], [0]]


@pytest.mark.parametrize(
    "y", [torch.tensor([0.0, 1, float("nan"), 1]), torch.tensor([[0], [1], [-1], [1]]), torch.tensor([0.0, 1, -1, 1])]
)
def test_partly_labelled_y(y: torch.Tensor) -> None:
    assert drgst.from_pyg(data(y=y)).labels.tolist() == [0, 1, -1, 1]


def test_weights_sparse_x_and_no_masks() -> None:
    graph = drgst.from_pyg(
        data(
            x=torch.eye(4).to_sparse(),
            edge_weight=torch.tensor([1.0, 3, 1, 1]),
            train_mask=None,
            val_mask=None,
            test_mask=None,
        )
    )
    assert graph.adjacency[0, 1] == graph.adjacency[1, 0] == 3
    assert graph.features.toarray().tolist() == np.eye(4).tolist()
    assert graph.splits == ()


def test_edge_attr_is_not_used_and_a_warning_says_so() -> None:
    with pytest.warns(DrgstWarning, match="edge_attr is not used: weights are read from edge_weight"):
        drgst.from_pyg(data(edge_attr=torch.ones(4, 5)))


def test_cora_there_and_back(cora: Graph) -> None:
    theirs = drgst.to_pyg(cora)
    assert theirs.num_edges == 2 * cora.num_edges
    assert theirs.is_undirected()
    again = drgst.from_pyg(theirs)
    assert np.array_equal(again.features, cora.features.toarray())
    assert (again.adjacency != cora.adjacency).nnz == 0
    assert np.array_equal(again.labels, cora.labels)
    assert (again.class_names, again.name) == (cora.class_names, cora.name)
    for part in ("train", "val", "test", "pool"):
        assert np.array_equal(getattr(again.split, part), getattr(cora.split, part))


def test_several_splits_become_masks_of_several_columns(cora: Graph) -> None:
    second = cora.split.with_pool("all-but-validation", cora.num_nodes)
    theirs = drgst.to_pyg(cora.with_(splits=(cora.split, second)))
    assert tuple(theirs.train_mask.shape) == (2708, 2)
    again = drgst.from_pyg(theirs)
    assert np.array_equal(again.splits[1].pool, second.pool)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"y": None}, GraphError, "all labels are missing"),
        ({"y": torch.tensor([0, 1])}, DrgstError, "2 labels for 4 nodes"),
        ({"y": torch.tensor([0.5, 1, 1, 0])}, GraphError, "0.5 is not whole"),
        ({"y": torch.zeros(4, 3)}, GraphError, "one label per node"),
        ({"x": torch.ones(4)}, GraphError, "x has shape"),
        ({"edge_index": torch.tensor([[0], [9]])}, GraphError, "edge_index names node 9"),
        ({"edge_index": torch.tensor([[0], [-1]])}, GraphError, "edge_index names node -1"),
        ({"edge_index": torch.tensor([0, 1])}, GraphError, "edge_index has shape"),
        ({"edge_index": None}, GraphError, "no edge_index"),
        ({"edge_weight": torch.ones(3)}, GraphError, "3 edge weights for 4 edges"),
        ({"test_mask": torch.ones(4, dtype=torch.bool)}, SplitError, "train and test overlap"),
    ],
)
def test_bad_pyg_data(changes: dict[str, Any], error: type[DrgstError], message: str) -> None:
    with pytest.raises(error, match=message):
        drgst.from_pyg(data(**changes))


def test_empty_data() -> None:
    with pytest.raises(GraphError, match="empty"):
        drgst.from_pyg(Data())


def test_classes_spelt_in_two_ways_are_refused() -> None:
    with pytest.raises(GraphError, match="the classes 'Cat 1' and 'cat1' differ in case or spaces only"):
        drgst.from_scipy(np.ones((3, 3)), ["Cat 1", "cat1", "dog"])
