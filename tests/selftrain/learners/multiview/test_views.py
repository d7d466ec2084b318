"""Lenses: which a graph permits, and what is in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.errors import GraphError
from drgst.graph.core import Graph, make_graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.transforms.features import svd, tfidf, unit_rows
from drgst.nn.ops.adjacency import sym_norm
from drgst.selftrain.learners.multiview import views as lenses
from drgst.selftrain.learners.multiview.choice import Shelf
from drgst.selftrain.learners.multiview.views import centred, columns_kept, feature_tables, permitted, reduced, views_of
from drgst.selftrain.settings import PlusView

NO_EDGES = sp.csr_array((60, 60), dtype=np.float32)
ALL = get_args(PlusView)[1:]  # what the setting allows beside "auto" must be what there is


@pytest.fixture(scope="module")
def words() -> Graph:
    """100 nodes with counts of words: no feature is negative."""
    return block_model(100, 300, seed=0, classes=3, features=60)


def test_permitted(world: Any) -> None:
    bare = world.graph.with_(adjacency=NO_EDGES)
    assert permitted(world.graph) == ALL
    assert permitted(bare) == ("knn", "features")
    assert permitted(make_graph(None, world.graph.adjacency, world.graph.labels)) == ("structure", "neighbours")
    assert permitted(make_graph(None, NO_EDGES, world.graph.labels)) == ()


def test_no_nearest_neighbours_among_too_many(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lenses, "MANY", 59)
    assert permitted(world.graph) == ("topology", "features", "hops", "structure", "neighbours")


@pytest.mark.parametrize(("nodes", "kept"), [(0, 256), (200_000, 256), (400_000, 128), (1_000_000, 51), (10**8, 32)])
def test_of_very_many_nodes_fewer_columns_are_kept(nodes: int, kept: int) -> None:
    assert columns_kept(nodes) == kept


@pytest.mark.parametrize("narrow", [2_000, 10])
def test_the_leading_columns_are_kept(words: Graph, narrow: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By eigenvectors, and by the randomised SVD."""
    monkeypatch.setattr(lenses, "NARROW", narrow)
    whole = feature_tables(words)[1]
    monkeypatch.setattr(lenses, "ROOM", 100 * 8 // 256 + 1)
    monkeypatch.setattr(lenses, "LEAST", 8)
    kept = feature_tables(words)[1]
    assert (whole.shape, kept.shape) == ((100, 60), (100, 10))
    u, sigma, _ = np.linalg.svd(whole, full_matrices=False)
    np.testing.assert_allclose(np.linalg.norm(kept, axis=0), sigma[:10], rtol=0.02)
    np.testing.assert_allclose(np.abs(np.sum(u[:, 0] * kept[:, 0])), sigma[0], rtol=1e-3)


def test_a_graph_of_nothing_is_refused(world: Any) -> None:
    with pytest.raises(GraphError, match="neither edges nor features"):
        Shelf().views(make_graph(None, NO_EDGES, world.graph.labels))


@pytest.mark.parametrize("has", ["both", "features", "edges"])
def test_every_lens_is_finite_with_unit_rows(words: Graph, has: str) -> None:
    graph = {
        "both": words,
        "features": words.with_(adjacency=sp.csr_array((100, 100), dtype=np.float32)),
        "edges": make_graph(None, words.adjacency, words.labels),
    }[has]
    views = views_of(graph)
    assert tuple(views) == permitted(graph)
    for name, view in views.items():
        assert (view.smoother is not None) == name.startswith(("topology", "knn", "neighbours"))
        np.testing.assert_allclose(view.shares().sum(axis=0), 1)
        for z in view.lenses:
            assert z.shape[0] == 100
            assert z.dtype == np.float32
            length = np.linalg.norm(z, axis=1)
            assert np.isin(length.round(4), (0, 1)).all()


def test_topology_by_a_dense_solution(words: Graph) -> None:
    """Far: α Σ (1-α)^k Â^k X with α = 0.1, which 20 steps nearly reach."""
    dense = np.linalg.inv(np.eye(100) - 0.9 * sym_norm(words.adjacency).toarray()) * 0.1
    x = feature_tables(words)[0]
    view = views_of(words, ["topology"])["topology"]
    assert len(view.lenses) == 4
    np.testing.assert_allclose(view.lenses[0], centred(dense @ x), atol=0.1)
    near = np.linalg.inv(np.eye(100) - 0.7 * sym_norm(words.adjacency).toarray()) * 0.3
    np.testing.assert_allclose(view.lenses[2], centred(near @ x), atol=0.02)


def test_hops_by_hand() -> None:
    """A path 0 - 1 - 2: the middle node's neighbours are the ends, whose own neighbour it is."""
    a = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    x = np.array([[1.0, 0], [0, 1], [1, 1]])
    graph = make_graph(x, a, [0, 1, 0])
    table = feature_tables(graph)[1]
    np.testing.assert_allclose(table, np.array([[1, 0], [0, 1], [0.5, 0.5]]))
    near = np.array([[0, 1], [0.75, 0.25], [0, 1]])
    far = np.array([[0.75, 0.25], [0, 1], [0.75, 0.25]])
    wanted = centred(np.concatenate([centred(table), centred(near), centred(far)], axis=1))
    np.testing.assert_allclose(views_of(graph, ["hops"])["hops"].lenses[1], wanted, atol=1e-5)


def test_tables_of_words(words: Graph) -> None:
    rare, shares = feature_tables(words)
    np.testing.assert_allclose(rare, unit_rows(tfidf(words).features).toarray(), atol=1e-6)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_negative_features_are_standardised(kind: Callable[[Any], Any]) -> None:
    """A column that never changes stays zero."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 4)).astype(np.float32)
    x[:, 3] = 2.0
    graph = make_graph(kind(x), sp.csr_array((30, 30)), np.arange(30) % 2)
    first, second = feature_tables(graph)
    scaled = (x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1)
    np.testing.assert_allclose(first, scaled / np.linalg.norm(scaled, axis=1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(second, x / np.linalg.norm(x, axis=1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("few", [2_000, 20])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_reduced_is_u_sigma(monkeypatch: pytest.MonkeyPatch, kind: Callable[[Any], Any], few: int) -> None:
    """By the eigenvectors of Xᵀ X, or (more columns than NARROW) by subspace iteration; signs are free."""
    monkeypatch.setattr(lenses, "WIDTH", 12)
    monkeypatch.setattr(lenses, "NARROW", few)
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(50, 12)) @ rng.normal(size=(12, 40)) + 0.01 * rng.normal(size=(50, 40))).astype(np.float32)
    graph = make_graph(kind(x), sp.csr_array((50, 50)), np.arange(50) % 2)
    u, s, _ = np.linalg.svd(x.astype(np.float64))
    wanted = u[:, :12] * s[:12]
    out = reduced(graph, graph.features)
    assert out.shape == (50, 12)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out @ out.T, wanted @ wanted.T, atol=1e-2)
    np.testing.assert_allclose(np.linalg.norm(out, axis=0), s[:12], rtol=1e-3)


def test_few_columns_stay_as_they_are(words: Graph) -> None:
    np.testing.assert_array_equal(reduced(words, words.features), words.features.toarray())


def test_structure_tells_blocks_apart() -> None:
    graph = block_model(90, 500, seed=0, classes=2, homophily=0.95)
    z = views_of(make_graph(None, graph.adjacency, graph.labels), ["structure"])["structure"].lenses[0]
    alike = graph.labels[:, None] == graph.labels
    assert (z @ z.T)[alike].mean() > (z @ z.T)[~alike].mean() + 0.01


def test_more_rounds_come_closer_to_the_exact_svd() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 70)).astype(np.float32)
    graph = make_graph(x, sp.csr_array((80, 80)), np.arange(80) % 2)
    exact = np.linalg.svd(x, compute_uv=False)[:10]
    off = [np.abs(np.linalg.norm(svd(graph, 10, seed=0, rounds=r).features, axis=0) - exact).max() for r in (0, 3, 30)]
    assert off[0] > off[1] > off[2]
    np.testing.assert_array_equal(svd(graph, 10, seed=0).features, svd(graph, 10, seed=0, rounds=7).features)


def test_columns_that_never_change_offer_no_view_of_features(words: Graph) -> None:
    graph = words.with_(features=np.tile(np.float32([1, 5]), (100, 1)))
    assert tuple(views_of(graph)) == permitted(graph) == ("structure", "neighbours")
