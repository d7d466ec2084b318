"""Statistics: by hand on a small graph, and of Cora."""

from __future__ import annotations

import json

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Graph, make_graph
from drgst.graph.stats import edge_homophily, statistics


def small() -> Graph:
    """0-1, 1-2, 2-3 and the isolated 4; labels a, a, b, unknown, b."""
    a = sp.coo_array((np.ones(3), ([0, 1, 2], [1, 2, 3])), shape=(5, 5))
    x = sp.csr_array(np.diag([1.0, 1, 0, 0, 0]))
    return make_graph(x, a, [0, 0, 1, -1, 1], class_names=["a", "b"], name="small")


def test_every_figure_by_hand() -> None:
    s = statistics(small())
    assert s.to_dict() == {
        "name": "small",
        "nodes": 5,
        "edges": 3,
        "features": 5,
        "classes": 2,
        "labelled": 4,
        "homophily": 0.5,
        "label_counts": {"a": 2, "b": 2},
        "isolated": 1,
        "components": 2,
        "mean_degree": 1.2,
        "feature_density": 2 / 25,
    }
    assert json.loads(json.dumps(s.to_dict())) == s.to_dict()


def test_homophily_is_unknown_where_no_edge_has_two_labels() -> None:
    assert edge_homophily(small().with_(labels=np.array([0, -1, 1, -1, 1]))) is None


def test_a_graph_without_features_has_density_zero() -> None:
    g = make_graph(None, small().adjacency, [0, 0, 1, 1, 1])
    assert statistics(g).feature_density == 0


def test_cora(cora: Graph) -> None:
    s = statistics(cora)
    assert s.components == 78
    assert sorted(s.label_counts.values()) == [180, 217, 298, 351, 418, 426, 818]
