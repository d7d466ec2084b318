"""Views: which a graph allows, and their representations by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.graph.core import Graph, make_graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.transforms import features
from drgst.graph.transforms.features import centre, row_l2, tfidf
from drgst.graph.transforms.normalise import sym_norm
from drgst.selftrain.learners.multiview import views as module
from drgst.selftrain.learners.multiview.views import available_views, columns_kept, feature_tables, make_views
from drgst.selftrain.settings import PlusView

NO_EDGES = sp.csr_array((60, 60), dtype=np.float32)
ALL = get_args(PlusView)[1:]  # what the setting allows beside "auto" must be what there is


@pytest.fixture(scope="module")
def words() -> Graph:
    """100 nodes with counts of words: no feature is negative."""
    return block_model(100, 300, seed=0, classes=3, features=60)


def test_available_views(world: Any) -> None:
    bare = world.graph.with_(adjacency=NO_EDGES)
    assert available_views(world.graph) == ALL
    assert available_views(bare) == ("knn", "features")
    assert available_views(make_graph(None, world.graph.adjacency, world.graph.labels)) == ("structure", "neighbours")
    assert available_views(make_graph(None, NO_EDGES, world.graph.labels)) == ()


def test_no_nearest_neighbours_among_too_many(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KNN_NODES", 59)
    assert available_views(world.graph) == ("topology", "features", "hops", "structure", "neighbours")


@pytest.mark.parametrize(("nodes", "kept"), [(0, 256), (200_000, 256), (400_000, 128), (1_000_000, 51), (10**8, 32)])
def test_of_very_many_nodes_fewer_columns_are_kept(nodes: int, kept: int) -> None:
    assert columns_kept(nodes) == kept


@pytest.mark.parametrize("limit", [2_000, 10])
def test_the_leading_columns_are_kept(words: Graph, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By eigenvectors, and by the randomised SVD."""
    monkeypatch.setattr(features, "GRAM_COLUMNS", limit)
    whole = feature_tables(words.features)[1]
    monkeypatch.setattr(module, "FULL_WIDTH_NODES", 100 * 8 // 256 + 1)
    monkeypatch.setattr(module, "MIN_COLUMNS", 8)
    kept = feature_tables(words.features)[1]
    assert (whole.shape, kept.shape) == ((100, 60), (100, 10))
    u, sigma, _ = np.linalg.svd(whole, full_matrices=False)
    np.testing.assert_allclose(np.linalg.norm(kept, axis=0), sigma[:10], rtol=0.02)
    np.testing.assert_allclose(np.abs(np.sum(u[:, 0] * kept[:, 0])), sigma[0], rtol=1e-3)


@pytest.mark.parametrize("has", ["both", "features", "edges"])
def test_every_representation_has_unit_rows(words: Graph, has: str) -> None:
    graph = {
        "both": words,
        "features": words.with_(adjacency=sp.csr_array((100, 100), dtype=np.float32)),
        "edges": make_graph(None, words.adjacency, words.labels),
    }[has]
    views = make_views(graph)
    assert tuple(views) == available_views(graph)
    for name, view in views.items():
        assert (view.smoother is not None) == name.startswith(("topology", "knn", "neighbours"))
        np.testing.assert_allclose(view.weights().sum(axis=0), 1)
        for z in view.representations:
            assert z.shape[0] == 100
            assert z.dtype == np.float32
            length = np.linalg.norm(z, axis=1)
            assert np.isin(length.round(4), (0, 1)).all()


def test_topology_by_a_dense_solution(words: Graph) -> None:
    """Long range: α Σ (1-α)^k Â^k X with α = 0.1, which 20 steps nearly reach."""
    dense = np.linalg.inv(np.eye(100) - 0.9 * sym_norm(words.adjacency).toarray()) * 0.1
    x = feature_tables(words.features)[0]
    view = make_views(words, ["topology"])["topology"]
    assert len(view.representations) == 4
    np.testing.assert_allclose(view.representations[0], centre(dense @ x), atol=0.1)
    near = np.linalg.inv(np.eye(100) - 0.7 * sym_norm(words.adjacency).toarray()) * 0.3
    np.testing.assert_allclose(view.representations[2], centre(near @ x), atol=0.02)


def test_hops_by_hand() -> None:
    """A path 0 - 1 - 2: the middle node's neighbours are the ends, whose own neighbour it is."""
    a = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    x = np.array([[1.0, 0], [0, 1], [1, 1]])
    graph = make_graph(x, a, [0, 1, 0])
    table = feature_tables(graph.features)[1]
    np.testing.assert_allclose(table, np.array([[1, 0], [0, 1], [0.5, 0.5]]))
    near = np.array([[0, 1], [0.75, 0.25], [0, 1]])
    far = np.array([[0.75, 0.25], [0, 1], [0.75, 0.25]])
    wanted = centre(np.concatenate([centre(table), centre(near), centre(far)], axis=1))
    np.testing.assert_allclose(make_views(graph, ["hops"])["hops"].representations[1], wanted, atol=1e-5)


def test_feature_tables_of_words(words: Graph) -> None:
    weighted, normalised = feature_tables(words.features)
    np.testing.assert_allclose(weighted, row_l2(tfidf(words.features)).toarray(), atol=1e-6)
    np.testing.assert_allclose(normalised.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_negative_features_are_standardised(kind: Callable[[Any], Any]) -> None:
    """A column that never changes stays zero."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 4)).astype(np.float32)
    x[:, 3] = 2.0
    graph = make_graph(kind(x), sp.csr_array((30, 30)), np.arange(30) % 2)
    first, second = feature_tables(graph.features)
    scaled = (x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1)
    np.testing.assert_allclose(first, scaled / np.linalg.norm(scaled, axis=1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(second, x / np.linalg.norm(x, axis=1, keepdims=True), atol=1e-5)


def test_structure_tells_blocks_apart() -> None:
    graph = block_model(90, 500, seed=0, classes=2, homophily=0.95)
    z = make_views(make_graph(None, graph.adjacency, graph.labels), ["structure"])["structure"].representations[0]
    same = graph.labels[:, None] == graph.labels
    assert (z @ z.T)[same].mean() > (z @ z.T)[~same].mean() + 0.01


def test_columns_that_never_change_give_no_view_of_features(words: Graph) -> None:
    graph = words.with_(features=np.tile(np.float32([1, 5]), (100, 1)))
    assert tuple(make_views(graph)) == available_views(graph) == ("structure", "neighbours")
