"""Homophily and cluster signal without labels: chance level where there is none, more where there is."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.graph.core import Graph
from drgst.graph.datasets.synthetic import block_model
from drgst.selftrain.learners.multiview.homophily import edge_signal, feature_signal, homophily
from drgst.selftrain.learners.multiview.views import make_views


def town(homophily: float, signal: float) -> Graph:
    return block_model(600, 2_400, seed=3, classes=4, features=200, homophily=homophily, signal=signal)


def features(graph: Graph) -> float:
    return feature_signal(graph.features, graph.num_classes, np.random.default_rng(0))


def signals(graph: Graph) -> tuple[float, float]:
    return edge_signal(graph.adjacency, graph.num_classes, np.random.default_rng(0)), features(graph)


def test_clusters_in_edges_alone() -> None:
    of_edges, of_features = signals(town(0.8, 0.0))
    assert of_edges > 1.1
    assert of_features == pytest.approx(1, abs=0.02)


def test_clusters_in_features_alone() -> None:
    of_edges, of_features = signals(town(0.25, 0.5))
    assert of_edges == pytest.approx(1, abs=0.02)
    assert of_features > 1.2


def test_dense_features_as_sparse_ones() -> None:
    graph = town(0.8, 0.5)
    dense = graph.with_(features=np.asarray(sp.csr_array(graph.features).toarray()))
    assert features(dense) == pytest.approx(features(graph), rel=1e-4)


def test_one_feature_has_no_signal() -> None:
    graph = town(0.8, 0.5)
    one = graph.with_(features=np.ones((600, 1), dtype=np.float32))
    assert features(one) == 1
    two = graph.with_(features=np.random.default_rng(0).random((600, 2)).astype(np.float32))
    assert features(two) == pytest.approx(1, abs=0.1)


def test_the_same_again() -> None:
    assert signals(town(0.8, 0.5)) == signals(town(0.8, 0.5))


def by_features(graph: Graph, components: int | None = None) -> float:
    z = make_views(graph, ["features"])["features"].representations[0]
    return homophily(graph.adjacency, z, components or graph.num_classes, np.random.default_rng(0))


def test_homophily_is_one_half_by_chance_less_on_heterophilous_and_more_on_homophilous_graphs() -> None:
    assert by_features(town(0.25, 0.5)) == pytest.approx(0.5, abs=0.02)
    assert by_features(town(0.8, 0.0)) == pytest.approx(0.5, abs=0.03)
    assert by_features(town(0.02, 0.5)) < 0.45
    assert by_features(town(0.5, 0.5)) > 0.6


def test_leading_components_have_less_noise() -> None:
    """Weak features: over all columns an edge is hardly more similar than chance, over the leading ones it is."""
    graph = town(0.8, 0.35)
    assert by_features(graph, components=200) < 0.58
    assert by_features(graph) > 0.62


def test_homophily_of_fewer_columns_than_classes() -> None:
    graph = town(0.8, 0.5)
    one = np.eye(4, dtype=np.float32)[graph.labels][:, :1]
    assert by_features(graph.with_(features=np.concatenate([one, 1 - one], axis=1))) > 0.55
    assert by_features(graph.with_(features=np.ones_like(one))) == 0.5, "one column that never changes"
