"""Groups in edges and in features, without a label: 1 where there are none, more where there are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.graph.core import Graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.transforms.suggest import feature_agreement
from drgst.selftrain.learners.multiview.homophily import edge_order, feature_homophily, feature_order
from drgst.selftrain.learners.multiview.views import views_of


def town(homophily: float, signal: float) -> Graph:
    return block_model(600, 2_400, seed=3, classes=4, features=200, homophily=homophily, signal=signal)


def orders(graph: Graph) -> tuple[float, float]:
    return edge_order(graph, np.random.default_rng(0)), feature_order(graph, np.random.default_rng(0))


def test_groups_in_edges_alone() -> None:
    edges, features = orders(town(0.8, 0.0))
    assert edges > 1.1
    assert features == pytest.approx(1, abs=0.02)


def test_groups_in_features_alone() -> None:
    edges, features = orders(town(0.25, 0.5))
    assert edges == pytest.approx(1, abs=0.02)
    assert features > 1.2


def test_dense_features_as_sparse_ones() -> None:
    graph = town(0.8, 0.5)
    dense = graph.with_(features=np.asarray(sp.csr_array(graph.features).toarray()))
    assert feature_order(dense, np.random.default_rng(0)) == pytest.approx(
        feature_order(graph, np.random.default_rng(0)), rel=1e-4
    )


def test_one_feature_can_hold_no_order() -> None:
    graph = town(0.8, 0.5)
    one = graph.with_(features=np.ones((600, 1), dtype=np.float32))
    assert feature_order(one, np.random.default_rng(0)) == 1
    two = graph.with_(features=np.random.default_rng(0).random((600, 2)).astype(np.float32))
    assert feature_order(two, np.random.default_rng(0)) == pytest.approx(1, abs=0.1)


def test_the_same_again() -> None:
    assert orders(town(0.8, 0.5)) == orders(town(0.8, 0.5))


def alike(graph: Graph) -> float:
    return feature_homophily(graph, views_of(graph, ["features"])["features"].lenses[0], np.random.default_rng(0))


def test_alikeness_is_one_half_by_chance_less_where_edges_part_and_more_where_they_join() -> None:
    assert alike(town(0.25, 0.5)) == pytest.approx(0.5, abs=0.02)
    assert alike(town(0.8, 0.0)) == pytest.approx(0.5, abs=0.03)
    assert alike(town(0.02, 0.5)) < 0.45
    assert alike(town(0.5, 0.5)) > 0.6


def test_alikeness_hears_through_noise() -> None:
    """Weak words: over all columns an edge is hardly more alike than chance, over the leading ones critical_value."""
    graph = town(0.8, 0.35)
    assert feature_agreement(graph, np.random.default_rng(0)) < 0.58
    assert alike(graph) > 0.62


def test_alikeness_of_fewer_columns_than_classes() -> None:
    graph = town(0.8, 0.5)
    one = np.eye(4, dtype=np.float32)[graph.labels][:, :1]
    assert alike(graph.with_(features=np.concatenate([one, 1 - one], axis=1))) > 0.55
    assert alike(graph.with_(features=np.ones_like(one))) == 0.5, "one column that never changes tells nothing"
