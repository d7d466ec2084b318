"""PyTorch Geometric's Data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import drgst
from drgst.errors import DrgstError, GraphError, SplitError
from drgst.graph.core import Graph


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
    assert graph.split is not None
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
            edge_attr=torch.ones(4, 5),
            train_mask=None,
            val_mask=None,
            test_mask=None,
        )
    )
    assert graph.adjacency[0, 1] == graph.adjacency[1, 0] == 3
    assert graph.features.toarray().tolist() == np.eye(4).tolist()
    assert graph.splits == ()
    assert any("edge_attr is not used" in note for note in graph.notes)


def test_cora_there_and_back(cora: Graph) -> None:
    theirs = drgst.to_pyg(cora)
    assert theirs.num_edges == 2 * cora.num_edges
    assert theirs.is_undirected()
    again = drgst.from_pyg(theirs)
    assert np.array_equal(again.features, cora.features.toarray())
    assert (again.adjacency != cora.adjacency).nnz == 0
    assert np.array_equal(again.labels, cora.labels)
    assert (again.class_names, again.name) == (cora.class_names, cora.name)
    assert cora.split is not None
    assert again.split is not None
    for part in ("train", "val", "test", "pool"):
        assert np.array_equal(getattr(again.split, part), getattr(cora.split, part))


def test_several_splits_become_masks_of_several_columns(cora: Graph) -> None:
    assert cora.split is not None
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
        ({"y": torch.tensor([0, 1, -7, 1])}, GraphError, "label -7 is not allowed"),
        ({"x": torch.full((4, 2), float("inf"))}, GraphError, "node 0 is NaN or infinite"),
        ({"x": torch.ones(4)}, GraphError, "x has shape"),
        ({"edge_index": torch.tensor([[0], [9]])}, GraphError, "edge_index names node 9"),
        ({"edge_index": torch.tensor([[0], [-1]])}, GraphError, "edge_index names node -1"),
        ({"edge_index": torch.tensor([0, 1])}, GraphError, "edge_index has shape"),
        ({"edge_index": None}, GraphError, "no edge_index"),
        ({"edge_weight": torch.ones(3)}, GraphError, "3 edge weights for 4 edges"),
        ({"edge_weight": torch.tensor([1.0, 1, 0, 1])}, GraphError, "weight 0.0"),
        ({"train_mask": torch.ones(3, dtype=torch.bool)}, SplitError, "train mask must be boolean with 4 rows"),
        ({"test_mask": torch.ones(4, dtype=torch.bool)}, SplitError, "train and test overlap"),
        (
            {"train_mask": torch.zeros(4, 3, dtype=torch.bool), "val_mask": torch.zeros(4, 2, dtype=torch.bool)},
            SplitError,
            "val mask has 2 columns",
        ),
    ],
)
def test_bad_input(changes: dict[str, Any], error: type[DrgstError], message: str) -> None:
    with pytest.raises(error, match=message):
        drgst.from_pyg(data(**changes))


def test_empty_data() -> None:
    with pytest.raises(GraphError, match="empty"):
        drgst.from_pyg(Data())
