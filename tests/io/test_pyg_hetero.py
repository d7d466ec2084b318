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
