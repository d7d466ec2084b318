"""Nearest neighbours: exact whatever the memory; approximate: recall, determinism, and the message without faiss."""

import itertools
import sys
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from drgst.errors import SettingError
from drgst.graph.core import Features, Graph
from drgst.transforms import approximate
from drgst.transforms import knn as module
from drgst.transforms.features import idf, reduce_columns, row_l2, scale_columns
from drgst.transforms.knn import can_find_neighbours, knn_adjacency, nearest_neighbours


def weighted(x: Features) -> Features:
    """TF-IDF."""
    return scale_columns(x, idf(x))


def approximately(x: Features, k: int, reduced: Callable[[], np.ndarray] | None = None) -> sp.csr_array:
    """Nearest neighbours as of a large graph."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "EXACT_NODES", 1)
        return nearest_neighbours(x, k, reduced)


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
    x = kind(weighted(cora.features))
    found = approximately(x, 10)
    assert recall(x, found, 10, np.arange(0, 2708, 7)) >= 0.95
    assert not found.diagonal().any()
    assert np.diff(found.indptr).max() == 10
    again = approximately(x, 10)
    np.testing.assert_array_equal(again.indices, found.indices)
    np.testing.assert_array_equal(again.data, found.data)


def test_recall_by_clusters(cora: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with columns that are reduced already. All 3 clusters are searched, by 64 of 1,433 columns."""
    monkeypatch.setattr(approximate, "LINKED_NODES", 2_000)
    x, nodes = weighted(cora.features), np.arange(0, 2708, 7)
    found = approximately(x, 10)
    again = approximately(x, 10, reduced=lambda: reduce_columns(row_l2(x), 100))
    for near in (found, again):
        assert recall(x, near, 10, nodes) >= 0.55
        assert not near.diagonal().any()
        assert np.diff(near.indptr).max() == 10


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_few_nodes_and_rows_of_zeros(kind: Callable) -> None:
    x = np.abs(np.random.default_rng(0).normal(size=(12, 5))).astype(np.float32)
    x[3] = 0
    found = approximately(kind(x), 4)
    exact = nearest_neighbours(kind(x), 4)
    assert not found[[3]].nnz
    np.testing.assert_allclose(found.toarray(), exact.toarray(), atol=1e-3)
    assert approximately(kind(x), 20).nnz == 11 * 10


def test_many_nodes_need_faiss(cora: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    assert can_find_neighbours(10**7)
    monkeypatch.setattr(module, "EXACT_NODES", 2_000)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(SettingError, match=r"among more than 2,000 nodes needs faiss, .* pip install 'drgst\[large\]'"):
        nearest_neighbours(cora.features, 5)


def features(rows: int, seed: int) -> np.ndarray:
    """Random non-negative rows with many zeros, one of them empty."""
    rng = np.random.default_rng(seed)
    x = rng.random((rows, 6)) * (rng.random((rows, 6)) < 0.4)
    x[0] = 0
    return x.astype(np.float32)


def cosines(x: np.ndarray) -> np.ndarray:
    """All cosines, 0 for empty rows and on the diagonal."""
    length = np.linalg.norm(x, axis=1, keepdims=True)
    unit = x / np.where(length > 0, length, 1)
    full = unit @ unit.T
    np.fill_diagonal(full, 0)
    return full


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(2, 30), k=st.integers(1, 12), seed=st.integers(0, 10**6), memory=st.sampled_from([1e-4, 1e-3, 9])
)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_neighbours_are_exactly_the_k_largest_cosines(
    kind: Callable, rows: int, k: int, seed: int, memory: float
) -> None:
    x = features(rows, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MEMORY", int(memory * 2**20))
        found = nearest_neighbours(kind(x), k).toarray()
    full = cosines(x)
    for row, truth in zip(found, full, strict=True):
        best = np.sort(truth[truth > 1e-7])[::-1][:k]
        np.testing.assert_allclose(np.sort(row[row > 1e-7])[::-1], best, atol=1e-5)
    np.testing.assert_allclose(found[found > 0], full[found > 0], atol=1e-5)
    assert not found.diagonal().any()


def test_dense_and_sparse_ways_agree(cora: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    x = weighted(cora.features)
    answers = []
    for dense in (True, False):
        monkeypatch.setattr(module, "_prefers_dense", lambda *_, dense=dense: dense)
        answers.append(nearest_neighbours(x, 10))
    one, other = answers
    assert one.nnz == other.nnz == 27080
    np.testing.assert_allclose(np.sort(one.data), np.sort(other.data), atol=1e-6)


def test_pieces_stay_within_the_memory_bound() -> None:
    x = sp.csr_array(features(200, 3))
    blocks = list(module._row_blocks(x, 24 * 500))
    assert blocks[0][0] == 0
    assert blocks[-1][1] == 200
    assert all(a[1] == b[0] for a, b in itertools.pairwise(blocks))
    scores = x @ x.T
    assert all(scores[low:high].nnz <= 500 for low, high in blocks)


def test_the_neighbour_graph_is_symmetric_and_unweighted(cora: Graph) -> None:
    near = knn_adjacency(cora.features, 5)
    assert (near != near.T).nnz == 0
    assert (near.data == 1).all()
    assert (np.diff(near.indptr) >= 5).all()


def test_no_neighbours_are_refused(cora: Graph) -> None:
    with pytest.raises(SettingError, match="k is 0"):
        knn_adjacency(cora.features, 0)
