"""PyG's HeteroData: one type is classified, the others are relations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

import drgst
from drgst.errors import GraphError


def papers() -> Any:
    """4 papers with labels, 3 authors with features, 2 institutes of authors; paper 3 has no author."""
    data = HeteroData()
    data["paper"].x = torch.arange(8.0).reshape(4, 2)
    data["paper"].y = torch.tensor([0, 1, -1, 0])
    data["paper"].train_mask = torch.tensor([True, True, False, False])
    data["author"].x = torch.tensor([[1.0], [3.0], [10.0]])
    data["institute"].num_nodes = 2
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0], [3]])
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1, 2], [0, 0, 1, 2]])
    data["paper", "rev_writes", "author"].edge_index = torch.tensor([[0, 0, 1, 2], [0, 1, 1, 2]])
    data["author", "at", "institute"].edge_index = torch.tensor([[0, 1, 2], [0, 0, 1]])
    return data


def test_types_become_relations_and_their_features_flow_to_the_rows() -> None:
    graph = drgst.from_pyg(papers())
    author, institute = graph.relations
    assert graph.adjacency.toarray()[0, 3] == 1
    assert author.name == "author"
    np.testing.assert_array_equal(author.incidence.toarray(), [[1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(institute.incidence.toarray(), [[2, 0], [1, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(graph.features, [[0, 1, 2], [2, 3, 3], [4, 5, 10], [6, 7, 0]])
    np.testing.assert_array_equal(graph.labels, [0, 1, -1, 0])
    assert graph.split is not None
    assert graph.split.train.tolist() == [0, 1]


def test_a_graph_with_relations_goes_out_and_comes_back() -> None:
    graph = drgst.from_pyg(papers())
    data = drgst.to_pyg(graph)
    assert isinstance(data, HeteroData)
    assert data.validate()
    back = drgst.from_pyg(data)
    assert [relation.name for relation in back.relations] == ["author", "institute"]
    for a, b in zip(graph.relations, back.relations, strict=True):
        np.testing.assert_array_equal(a.incidence.toarray(), b.incidence.toarray())
        np.testing.assert_array_equal(a.entities, b.entities)
    np.testing.assert_array_equal(back.features, graph.features)
    assert (back.adjacency != graph.adjacency).nnz == 0
    assert (back.name, back.class_names, back.node_ids.tolist()) == (
        graph.name,
        graph.class_names,
        graph.node_ids.tolist(),
    )


@pytest.mark.parametrize(("types", "found"), [((), "none"), (("paper", "author"), "'paper', 'author'")])
def test_one_type_has_labels(types: tuple[str, ...], found: str) -> None:
    data = papers()
    del data["paper"].y
    for name in types:
        data[name].y = torch.zeros(data[name].x.shape[0], dtype=torch.int64)
    with pytest.raises(
        GraphError, match=f"one node type of the HeteroData must have y, the type to classify; with y: {found}"
    ):
        drgst.from_pyg(data)


def test_an_estimator_takes_it() -> None:
    model = drgst.SelfTraining("drgst-plus").fit(papers())
    assert model.predict_proba().shape == (4, 2)


BAD = {
    "names node 9, but the graph has nodes 0 to 2": ("author", "writes", "paper", "edge_index", [[9], [0]]),
    "names node -1, but the graph has nodes 0 to 3": ("author", "writes", "paper", "edge_index", [[0], [-1]]),
    "has shape (2,) and type int64": ("author", "at", "institute", "edge_index", [0, 1]),
    "has shape (2, 1) and type float32": ("paper", "cites", "paper", "edge_index", [[0.0], [1.0]]),
    "there are 2 edge weights for 1 edges": ("paper", "cites", "paper", "edge_weight", [1.0, 2.0]),
    "weights must be finite and above 0": ("author", "at", "institute", "edge_weight", [1.0, -1.0, 1.0]),
    "names a node type without nodes": ("ghost", "of", "paper", "edge_index", [[0], [0]]),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_edges_of_a_type_are_one_sentence(message: str) -> None:
    data, (first, kind, last, key, value) = papers(), BAD[message]
    data[first, kind, last][key] = torch.tensor(value)
    with pytest.raises(GraphError) as caught:
        drgst.from_pyg(data)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "key", "value", "message"),
    [
        ("author", "x", torch.full((3, 1), float("nan")), "x of the node type 'author' has a value that is NaN"),
        ("paper", "x", torch.ones(4, 2, dtype=torch.complex64), "x is complex64; real numbers are needed"),
        ("paper", "y", "text", "y is str; a dense tensor"),
        ("paper", "train_mask", "text", "train_mask is str; a dense tensor"),
        ("paper", "class_names", 3, "class_names must be a list of names, not 3"),
        ("institute", "num_nodes", -1, "the graph is empty: the node type 'institute'"),
    ],
)
def test_bad_nodes_of_a_type_are_one_sentence(name: str, key: str, value: Any, message: str) -> None:
    data = papers()
    data[name][key] = value
    with pytest.raises(GraphError, match=message):
        drgst.from_pyg(data)
