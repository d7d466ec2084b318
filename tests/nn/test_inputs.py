"""Graphs as tensors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from drgst.errors import SettingError
from drgst.graph.core import Graph, make_graph
from drgst.nn.inputs import make_inputs, open_device, scaled
from drgst.nn.ops.sparse import SparseMatrix


def test_rows_are_scaled() -> None:
    x = np.array([[1.0, 3.0], [0.0, 0.0], [0.0, 2.0]], dtype=np.float32)
    np.testing.assert_allclose(scaled(x, "l1"), [[0.25, 0.75], [0, 0], [0, 1]], rtol=1e-6)
    np.testing.assert_allclose(scaled(x, "l2"), [[1 / 10**0.5, 3 / 10**0.5], [0, 0], [0, 1]], rtol=1e-6)
    assert scaled(x, "none") is x


def test_an_unknown_normalisation_is_refused(graph: Graph) -> None:
    with pytest.raises(SettingError, match="normalise is 'max'"):
        make_inputs(graph, normalise="max")


def test_sparse_features_stay_sparse_and_full_ones_become_dense(graph: Graph) -> None:
    assert isinstance(make_inputs(graph).x, SparseMatrix)
    full = make_inputs(graph.with_(features=sp.csr_array(np.ones((6, 4), dtype=np.float32))))
    assert isinstance(full.x, torch.Tensor)
    assert full.x.dtype == torch.float32


@pytest.mark.parametrize("dense", [False, True])
def test_restriction_keeps_rows_and_places(graph: Graph, dense: bool) -> None:
    whole = make_inputs(graph.with_(features=graph.features.toarray()) if dense else graph)
    assert isinstance(whole.x, torch.Tensor) is dense
    part = whole.restrict(np.array([1, 2, 4])).restrict(np.array([0, 2]))
    assert part.nodes.tolist() == [1, 4]
    rows, all_rows = (i.x.numpy() if dense else i.x.scipy.toarray() for i in (part, whole))
    assert np.array_equal(rows, all_rows[[1, 4]])


def test_training_never_writes_into_the_graph() -> None:
    features = np.ones((2, 2), dtype=np.float32)
    graph = make_graph(features, np.array([[0, 1], [1, 0]]), np.array([0, 1]))
    inputs = make_inputs(graph, normalise="none")
    inputs.x.mul_(5)
    assert np.array_equal(graph.features, features)


def test_devices() -> None:
    assert open_device("cpu") == torch.device("cpu")
    assert open_device("auto").type in ("cpu", "cuda", "mps")
    for wrong in ("tpu9", "cuda:77", "meta"):
        with pytest.raises(SettingError, match=f"device {wrong} can't be used here"):
            open_device(wrong)
