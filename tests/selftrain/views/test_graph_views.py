"""Views: which a graph allows, their representations by hand, and those of new nodes."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.datasets.synthetic import block_model
from drgst.errors import GraphError, SettingError
from drgst.graph.core import Graph, make_graph
from drgst.selftrain.views import shared as module
from drgst.selftrain.views.base import ridge_map
from drgst.selftrain.views.graph_views import VIEWS, Views, homophily
from drgst.selftrain.views.shared import ViewMaps
from drgst.transforms import knn
from drgst.transforms.features import FeatureMap, row_l2
from drgst.transforms.propagate import mean_norm, sym_norm

NO_EDGES = sp.csr_array((60, 60), dtype=np.float32)


def centre(z: np.ndarray) -> np.ndarray:
    """Centred rows of unit length."""
    return row_l2(z - z.mean(axis=0))


@pytest.fixture(scope="module")
def words() -> Graph:
    """100 nodes with counts of words: no feature is negative."""
    return block_model(100, 300, seed=0, classes=3, features=60)


def part(graph: Graph, nodes: np.ndarray) -> Graph:
    """The subgraph of some nodes."""
    return make_graph(
        graph.features[nodes], graph.adjacency[nodes][:, nodes], graph.labels[nodes], node_ids=graph.node_ids[nodes]
    )


def test_available_views(world: Any) -> None:
    bare = world.graph.with_(adjacency=NO_EDGES)
    assert Views(world.graph).available == tuple(VIEWS)
    assert Views(bare).available == ("knn", "features")
    assert Views(make_graph(None, world.graph.adjacency, world.graph.labels)).available == ("structure", "neighbours")
    assert Views(make_graph(None, NO_EDGES, world.graph.labels)).available == ()


def test_no_nearest_neighbours_among_too_many_without_faiss(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knn, "EXACT_NODES", 59)
    monkeypatch.setattr(knn, "find_spec", lambda _name: None)
    assert "knn" not in Views(world.graph).available


def test_columns_that_never_change_give_no_view_of_features(words: Graph) -> None:
    graph = words.with_(features=np.tile(np.float32([1, 5]), (100, 1)))
    assert Views(graph).available == ("structure", "neighbours")


@pytest.mark.parametrize(
    ("name", "views"), [("auto", tuple(VIEWS)), ("topology", ("topology",)), ("hops+knn", ("knn", "hops"))]
)
def test_matching_views(world: Any, name: str, views: tuple[str, ...]) -> None:
    assert Views(world.graph).matching(name) == views


def test_views_that_do_not_match(world: Any) -> None:
    with pytest.raises(SettingError, match="this graph has no view 'knnn'"):
        Views(world.graph).matching("topology+knnn")
    with pytest.raises(GraphError, match="neither edges nor features"):
        Views(make_graph(None, NO_EDGES, world.graph.labels)).matching("auto")


def test_propagated_features_by_a_dense_solution(words: Graph) -> None:
    """Z M of Z = α Σ (1-α)^k Â^k X with α = 0.15, which 20 steps nearly reach, and the ridge regression M of Z on X."""
    x = FeatureMap.fit(words.features, 256)(words.features)
    s = sym_norm(words.adjacency).toarray()
    z = centre(0.15 * np.linalg.inv(np.eye(100) - 0.85 * s) @ x)
    np.testing.assert_allclose(Views(words)["topology"], row_l2(z @ ridge_map(x, z)), atol=0.05)


def test_hops_by_hand(words: Graph) -> None:
    x = FeatureMap.fit(words.features, 256)(words.features)
    mean = mean_norm(words.adjacency).toarray()
    wanted = np.hstack([centre(x), centre(mean @ x), centre(mean @ mean @ x)]) / np.sqrt(3)
    np.testing.assert_allclose(Views(words)["hops"], wanted, atol=1e-4)


def test_hops_are_reduced_to_the_leading_columns(words: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Z V of the SVD of Z: the same singular values, and the same map for a graph that is given the maps."""
    whole = Views(words)["hops"]
    monkeypatch.setattr(module, "MAX_COLUMNS", 64)
    views = Views(words)
    leading = np.linalg.svd(whole, compute_uv=False)[:64]
    assert views["hops"].shape == (100, 64)
    np.testing.assert_allclose(np.linalg.norm(views["hops"], axis=0), leading, atol=1e-3)
    np.testing.assert_allclose(Views(words, ViewMaps(dict(views.maps.arrays)))["hops"], views["hops"], atol=1e-5)


def test_the_smoother_is_the_weighted_mean_of_the_views_edges(words: Graph) -> None:
    views = Views(words)
    edges, knn = views.smoother({"topology": 1.0}), views.smoother({"knn": 0.5})
    np.testing.assert_allclose(edges.toarray(), sym_norm(words.adjacency).toarray())
    both = views.smoother({"topology": 0.2, "neighbours": 0.1, "knn": 0.1, "hops": 0.6})
    np.testing.assert_allclose(both.toarray(), 0.75 * edges.toarray() + 0.25 * knn.toarray(), atol=1e-6)
    assert views.smoother({"hops": 1.0}) is None
    assert views.smoother({"topology": 0.3, "knn": 0.1}) is not None
    assert views.smoother({"topology": 0.3, "knn": 0.1}) is views.smoother({"topology": 0.3, "knn": 0.1})


def test_the_smoother_of_a_large_graph_keeps_some_entries(words: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight of a row at most; rows keep their sums."""
    monkeypatch.setattr(module, "WIDE_NODES", 50)
    views = Views(words)
    ((weight, thin),) = views.smoother({"topology": 0.3, "neighbours": 0.1})
    whole = sym_norm(words.adjacency)
    assert weight == pytest.approx(1)
    np.testing.assert_array_equal(np.diff(thin.indptr), np.minimum(np.diff(whole.indptr), 8))
    np.testing.assert_allclose(thin.sum(axis=1), whole.sum(axis=1), rtol=1e-6)
    ratio = thin.toarray()[thin.toarray() > 0] / whole.toarray()[thin.toarray() > 0]
    assert (ratio > 1 - 1e-6).all()
    assert len(views.smoother({"topology": 0.3, "knn": 0.1})) == 2


def test_leading_columns_are_one_array(words: Graph) -> None:
    views = Views(words)
    np.testing.assert_array_equal(views.leading("hops", 5), views["hops"][:, :5])
    assert views.leading("hops", 5) is views.leading("hops", 5)


def test_neighbours_of_a_large_graph_are_those_of_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scaled matrix stands in for TF-IDF of A + I; representations agree but for 16 bits and 8 steps.

    Those of a large graph take the singular vectors of the view ``structure``.
    """
    graph = block_model(300, 1500, seed=0, classes=3, homophily=0.9)
    vectors = Views(graph).edge_vectors()
    small = Views(graph, ViewMaps({"neighbours.vectors": vectors}))
    small["neighbours"]
    monkeypatch.setattr(module, "WIDE_NODES", 100)
    large = Views(graph)
    large["neighbours"]
    assert large["structure"] is not None
    for name in ("structure", "neighbours"):
        np.testing.assert_array_equal(large.maps.arrays[f"{name}.vectors"], vectors)
    a, b = (z["neighbours"].astype(np.float32) @ z["neighbours"].astype(np.float32).T for z in (small, large))
    np.testing.assert_allclose(a, b, atol=0.1)
    np.testing.assert_array_equal(small.maps.arrays["neighbours.idf"], large.maps.arrays["neighbours.idf"])


def test_nodes_without_neighbours_have_one_row() -> None:
    """Where fewer columns are kept than there are nodes, words of their own would be rounding errors."""
    graph = block_model(300, 1500, seed=0, classes=3, homophily=0.9)
    lone = sp.csr_array(sp.block_diag([graph.adjacency, sp.csr_array((20, 20))], format="csr"), dtype=np.float32)
    z = Views(make_graph(None, lone, np.append(graph.labels, np.zeros(20, np.int64))))["neighbours"]
    np.testing.assert_allclose(z[300:] @ z[300:].T, 1, atol=1e-5)


def test_default_weights_follow_homophily() -> None:
    """Topology where neighbours are similar, kNN where they are not."""
    similar = block_model(300, 1500, seed=0, classes=3, features=60, homophily=0.95, signal=0.8)
    random = block_model(300, 1500, seed=0, classes=3, features=60, homophily=1 / 3, signal=0.8)
    one, two = (Views(graph).default_weights() for graph in (similar, random))
    assert one["topology"] > 0.8
    assert two["topology"] < 0.2
    assert max(two, key=lambda name: two[name]) == "knn"
    assert sum(one.values()) == pytest.approx(1)


def test_default_weights_without_features_follow_homophily_by_structure() -> None:
    """Neighbours where edges join nodes of similar structure, structure alone where they join others."""
    none = sp.csr_array((300, 0), dtype=np.float32)
    similar, across, random = (
        block_model(300, 1500, seed=0, classes=3, homophily=h).with_(features=none) for h in (0.95, 0.05, 0.33)
    )
    one, two, three = (Views(graph).default_weights() for graph in (similar, across, random))
    assert set(one) == {"structure", "neighbours"}
    assert one["neighbours"] > 0.8
    assert two["neighbours"] == 0
    assert three["neighbours"] < one["neighbours"]


def test_old_nodes_keep_their_representations_beside_new_ones_without_edges(words: Graph) -> None:
    """New nodes that join nobody change no view of edges."""
    views = Views(words)
    old = {name: views[name] for name in VIEWS}
    lone = sp.block_diag([words.adjacency, sp.csr_array((3, 3))], format="csr")
    more = make_graph(
        sp.vstack([words.features, words.features[:3]]).tocsr(), sp.csr_array(lone), np.append(words.labels, [0, 1, 2])
    )
    again = Views(more, ViewMaps(dict(views.maps.arrays)))
    assert again.carried_over(VIEWS) == tuple(VIEWS)
    for name in set(VIEWS) - {"knn"}:
        np.testing.assert_allclose(again[name][:100], old[name], atol=1e-4)
    np.testing.assert_allclose(again["features"][100:], old["features"][:3], atol=1e-5)


def test_new_nodes_get_positions_by_their_edges() -> None:
    graph = block_model(200, 1500, seed=0, classes=2, homophily=0.95)
    bare = make_graph(None, graph.adjacency, graph.labels)
    views = Views(part(bare, np.arange(150)))
    old = views["structure"], views["neighbours"]
    again = Views(bare, ViewMaps(dict(views.maps.arrays)))
    for z, name in zip(old, ("structure", "neighbours"), strict=True):
        centres = row_l2(np.stack([z[graph.labels[:150] == c].mean(axis=0) for c in (0, 1)]))
        assert ((again[name][150:] @ centres.T).argmax(axis=1) == graph.labels[150:]).mean() > 0.85


def test_views_of_other_nodes_are_not_carried_over(words: Graph) -> None:
    views = Views(part(words, np.arange(60)))
    _ = [views[name] for name in VIEWS]
    other = Views(part(words, np.arange(60, 100)), ViewMaps(dict(views.maps.arrays)))
    with pytest.warns(UserWarning, match="structure, neighbours can't be made of .* other nodes"):
        assert set(other.carried_over(VIEWS)) == set(VIEWS) - {"structure", "neighbours"}
    with pytest.raises(GraphError, match="none of the model's views"):
        other.carried_over(("structure",))


def by_features(share: float) -> float:
    """Homophily of a block model in which so many edges join nodes of one class."""
    graph: Graph = block_model(600, 2_400, seed=3, classes=4, features=200, homophily=share, signal=0.5)
    z = centre(row_l2(graph.features.toarray()))
    return homophily(graph, z, np.random.default_rng(0))


def test_homophily_of_random_edges_and_of_edges_within_and_between_classes() -> None:
    assert by_features(0.25) == pytest.approx(0.5, abs=0.03)
    assert by_features(0.25) < by_features(0.6) < by_features(0.95)
    assert by_features(0.95) > 0.7
    assert by_features(0.0) < 0.47, "heterophilous edges are below chance"
