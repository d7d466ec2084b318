"""Approximate nearest neighbours: recall against exact ones, determinism, and the message without faiss."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import drgst
from drgst.errors import SettingError
from drgst.graph.core import Features, Graph
from drgst.transforms import approximate
from drgst.transforms import knn as module
from drgst.transforms.features import reduce_columns, row_l2, tfidf
from drgst.transforms.knn import can_find_neighbours, nearest_neighbours


def recall(x: Features, found: sp.csr_array, k: int, nodes: np.ndarray) -> float:
    """The share of the k nearest of ``nodes`` that were found; ties with the k-th count as nearest."""
    unit = row_l2(x)
    cosine = np.asarray((unit[nodes] @ unit.T).todense() if sp.issparse(unit) else unit[nodes] @ unit.T)
    cosine[np.arange(nodes.size), nodes] = -1
    least = np.partition(cosine, -k, axis=1)[:, -k]
    hits = [(found[[u]].data >= low - 1e-5).sum() for u, low in zip(nodes, least, strict=True)]
    return float(np.sum(hits) / (k * nodes.size))


@pytest.mark.parametrize("kind", [sp.csr_array, lambda x: x.toarray()])
def test_recall_on_reduced_columns(cora: Graph, kind: Callable) -> None:
    x = kind(tfidf(cora.features))
    found = nearest_neighbours(x, 10, exact=False)
    assert recall(x, found, 10, np.arange(0, 2708, 7)) >= 0.95
    assert not found.diagonal().any()
    assert np.diff(found.indptr).max() == 10


def test_recall_by_clusters(cora: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with columns that are reduced already. 8 of 104 clusters are searched, by 64 of 1,433 columns."""
    monkeypatch.setattr(approximate, "LINKED_NODES", 2_000)
    x, nodes = tfidf(cora.features), np.arange(0, 2708, 7)
    found = nearest_neighbours(x, 10, exact=False)
    again = nearest_neighbours(x, 10, exact=False, reduced=lambda: reduce_columns(row_l2(x), 100))
    for near in (found, again):
        assert recall(x, near, 10, nodes) >= 0.55
        assert not near.diagonal().any()
        assert np.diff(near.indptr).max() == 10
    np.testing.assert_array_equal(nearest_neighbours(x, 10, exact=False).indices, found.indices)


@pytest.mark.slow
@pytest.mark.data
def test_recall_on_pubmed(data_root: Path) -> None:
    x = tfidf(drgst.load("pubmed", data_root).features)
    assert recall(x, nearest_neighbours(x, 10, exact=False), 10, np.arange(0, 19717, 11)) >= 0.95


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_few_nodes_and_rows_of_zeros(kind: Callable) -> None:
    x = np.abs(np.random.default_rng(0).normal(size=(12, 5))).astype(np.float32)
    x[3] = 0
    found = nearest_neighbours(kind(x), 4, exact=False)
    exact = nearest_neighbours(kind(x), 4)
    assert not found[[3]].nnz
    np.testing.assert_allclose(found.toarray(), exact.toarray(), atol=1e-3)
    assert nearest_neighbours(kind(x), 20, exact=False).nnz == 11 * 10


def test_neighbours_do_not_change_from_call_to_call(cora: Graph) -> None:
    one, other = (nearest_neighbours(cora.features, 5, exact=False) for _ in range(2))
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_array_equal(one.data, other.data)


def test_many_nodes_need_faiss(cora: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    assert can_find_neighbours(10**7)
    monkeypatch.setattr(module, "EXACT_NODES", 2_000)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(SettingError, match=r"among more than 2,000 nodes needs faiss, .* pip install 'drgst\[large\]'"):
        nearest_neighbours(cora.features, 5)
    assert nearest_neighbours(cora.features, 5, exact=True).nnz
