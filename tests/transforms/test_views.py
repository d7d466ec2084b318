"""Views: exact neighbours whatever the memory, PageRank against its closed form, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from drgst.datasets.load import load
from drgst.datasets.synthetic import block_model
from drgst.errors import GraphError, SettingError
from drgst.graph.core import Graph, make_graph
from drgst.graph.stats import edge_homophily
from drgst.transforms import knn as knn_module
from drgst.transforms import ppr as ppr_module
from drgst.transforms.features import tfidf
from drgst.transforms.knn import nearest_neighbours
from drgst.transforms.ppr import pagerank_neighbours, power_iteration, push, transition
from drgst.transforms.views import view


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
    found = nearest_neighbours(kind(x), k, memory).toarray()
    full = cosines(x)
    for row, truth in zip(found, full, strict=True):
        best = np.sort(truth[truth > 1e-7])[::-1][:k]
        np.testing.assert_allclose(np.sort(row[row > 1e-7])[::-1], best, atol=1e-5)
    np.testing.assert_allclose(found[found > 0], full[found > 0], atol=1e-5)
    assert not found.diagonal().any()


def test_dense_and_sparse_ways_agree(cora: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    x = tfidf(cora.features)
    answers = []
    for dense in (True, False):
        monkeypatch.setattr(knn_module, "_prefers_dense", lambda *_, dense=dense: dense)
        answers.append(nearest_neighbours(x, 10))
    one, other = answers
    assert one.nnz == other.nnz == 27080
    np.testing.assert_allclose(np.sort(one.data), np.sort(other.data), atol=1e-6)


def test_pieces_stay_within_the_memory_setting() -> None:
    x = sp.csr_array(features(200, 3))
    blocks = list(knn_module._row_blocks(x, 24 * 500))
    assert blocks[0][0] == 0
    assert blocks[-1][1] == 200
    assert all(a[1] == b[0] for a, b in itertools.pairwise(blocks))
    scores = x @ x.T
    assert all(scores[low:high].nnz <= 500 for low, high in blocks)


def test_knn_view_is_symmetric_unweighted_and_keeps_the_rest(cora: Graph) -> None:
    near = view(cora, "knn", k=5)
    assert not near.weighted
    assert (near.adjacency != near.adjacency.T).nnz == 0
    assert (near.degrees >= 5).all()
    assert near.labels is cora.labels
    assert near.splits == cora.splits
    assert near.notes[-1] == "edges are the 5 nearest neighbours by cosine of tfidf features"
    assert view(cora, "knn", weighting="raw").num_edges != view(cora, "knn").num_edges


def test_union_has_the_edges_of_both(cora: Graph) -> None:
    both, near = view(cora, "union", k=5), view(cora, "knn", k=5)
    expected = (cora.adjacency + near.adjacency).astype(bool)
    assert (both.adjacency.astype(bool) != expected).nnz == 0
    assert not both.weighted


def test_topology_is_the_graph_itself(cora: Graph) -> None:
    assert view(cora, "topology") is cora


def closed_form(a: np.ndarray, alpha: float) -> np.ndarray:
    """S / √(diag diagᵀ) with S = α (I - (1-α) D^-½ (A + I) D^-½)^-1."""
    loops = a + np.eye(len(a))
    d = loops.sum(1)
    s = alpha * np.linalg.inv(np.eye(len(a)) - (1 - alpha) * loops / np.sqrt(np.outer(d, d)))
    return s / np.sqrt(np.outer(s.diagonal(), s.diagonal()))


@pytest.mark.parametrize("limit", [5_000, 0])  # power iteration, push
@pytest.mark.parametrize("alpha", [0.15, 0.5])
def test_pagerank_equals_its_closed_form(limit: int, alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ppr_module, "POWER_LIMIT", limit)
    g = block_model(60, 150, seed=1, classes=3, features=9)
    found = pagerank_neighbours(g.adjacency, k=60, alpha=alpha, tolerance=1e-6, memory_mb=0.01)
    expected = closed_form(g.adjacency.toarray(), alpha)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-4)


def test_pagerank_keeps_the_k_largest_and_isolated_nodes_stay_so() -> None:
    a = sp.csr_array(sp.block_diag([np.ones((4, 4)) - np.eye(4), [[0.0]]]))
    full = pagerank_neighbours(a, k=10)
    assert np.diff(full.indptr).tolist() == [3, 3, 3, 3, 0]
    g = block_model(80, 300, seed=0, classes=2, features=4)
    cut = pagerank_neighbours(g.adjacency, k=3)
    best = np.sort(pagerank_neighbours(g.adjacency, k=80).toarray(), axis=1)[:, -3:]
    assert (np.diff(cut.indptr) == 3).all()
    # the largest S_uv; divided by √S_vv they need not be the largest weights, but they are near them
    assert (np.sort(cut.data.reshape(80, 3), axis=1) <= best + 1e-6).all()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), tolerance=st.sampled_from([1e-2, 1e-3, 1e-4]))
def test_push_misses_no_more_than_it_promises(seed: int, tolerance: float) -> None:
    g = block_model(50, 120, seed=seed, classes=2, features=4)
    walk, degrees = transition(g.adjacency)
    sources = np.array([0, 7, 49])
    missing = power_iteration(walk, sources, 0.2, 1e-9) - push(walk, sources, degrees, 0.2, tolerance).toarray()
    assert missing.min() > -1e-6
    assert (missing <= tolerance * degrees + 1e-6).all()


def test_ppr_view_is_symmetric_with_weights_up_to_one(cora: Graph) -> None:
    near = view(cora, "ppr", k=8)
    assert (abs(near.adjacency - near.adjacency.T) > 0).nnz == 0
    assert near.adjacency.data.min() > 0
    assert near.adjacency.data.max() <= 1
    assert near.degrees.max() >= 8


@pytest.mark.parametrize(
    ("name", "setting", "word"),
    [
        ("kn", {}, "unknown view 'kn'; did you mean 'knn'?"),
        ("knn", {"k": 0}, "k is 0"),
        ("knn", {"memory_mb": 0}, "memory_mb is 0"),
        ("knn", {"weighting": "tf-idf"}, "did you mean 'tfidf'?"),
        ("knn", {"alpha": 0.1}, "view 'knn' has no setting 'alpha'; it takes exact, k, memory_mb, weighting"),
        ("topology", {"k": 3}, "view 'topology' has no setting 'k'; it takes none"),
        ("ppr", {"k": 0}, "k is 0"),
        ("ppr", {"alpha": 1.0}, "alpha is 1.0"),
        ("ppr", {"tolerance": 0}, "tolerance is 0"),
        ("ppr", {"memory_mb": -1}, "memory_mb is -1"),
    ],
)
def test_a_wrong_setting_is_named(name: str, setting: dict, word: str, cora: Graph) -> None:
    with pytest.raises(SettingError) as caught:
        view(cora, name, **setting)
    assert word in str(caught.value)


def test_knn_without_features_is_refused() -> None:
    g = make_graph(None, np.array([[0, 1], [1, 0]]), [0, 1])
    for name in ("knn", "union"):
        with pytest.raises(GraphError, match="has no features"):
            view(g, name)


@pytest.mark.data
def test_flickr_ten_neighbours_share_their_class(data_root: Path) -> None:
    """facts.md: homophily 0.24 over friends, 0.72 over ten nearest neighbours."""
    g = load("flickr", root=data_root)
    near = view(g, "knn", k=10)
    assert edge_homophily(near) == pytest.approx(0.72, abs=0.01)
