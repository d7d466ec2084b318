"""Statistics: by hand on a small graph, and against the paper's Table 3 on the real ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.datasets.load import load
from drgst.graph.core import Graph, make_graph
from drgst.graph.stats import edge_homophily, statistics

# nodes, undirected pairs, features, classes, labels per class in the public split
TABLE_3 = {
    "cora": (2708, 5278, 1433, 7),
    "citeseer": (3327, 4552, 3703, 6),
    "pubmed": (19717, 44324, 500, 3),
    "flickr": (7575, 239738, 12047, 9),
}


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


def test_cora_is_as_in_table_3(cora: Graph) -> None:
    s = statistics(cora)
    assert (s.nodes, s.edges, s.features, s.classes) == TABLE_3["cora"]
    assert s.homophily == pytest.approx(0.81, abs=0.005)
    assert s.components == 78
    assert sorted(s.label_counts.values()) == [180, 217, 298, 351, 418, 426, 818]


@pytest.mark.data
@pytest.mark.parametrize("name", ["citeseer", "pubmed", "flickr"])
def test_the_real_graphs_are_as_in_table_3(name: str, data_root: Path) -> None:
    g = load(name, root=data_root)
    s = statistics(g)
    assert (s.nodes, s.edges, s.features, s.classes) == TABLE_3[name]
    assert g.split is not None
    assert (g.split.val.size, g.split.test.size) == (500, 1000)
    assert np.bincount(g.labels[g.split.train]).tolist() == [20] * s.classes
    assert s.homophily == pytest.approx({"citeseer": 0.74, "pubmed": 0.80, "flickr": 0.24}[name], abs=0.005)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::drgst.errors.DrgstWarning")
def test_corafull_is_as_in_table_3(data_root: Path) -> None:
    s = statistics(load("corafull", root=data_root))
    assert (s.nodes, s.edges, s.classes) == (19793, 63421, 70)
    assert s.label_counts[list(s.label_counts)[68]] == 15
