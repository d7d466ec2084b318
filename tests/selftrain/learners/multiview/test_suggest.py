"""The suggested view: right on graphs made to be clear, and independent of test labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.datasets.load import load
from drgst.datasets.synthetic import block_model
from drgst.errors import GraphError, SplitError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split, per_class_split, random_split
from drgst.selftrain.learners.multiview.suggest import suggest_view


def made(homophily: float, signal: float, per_class: int = 8) -> tuple[Graph, Split]:
    g = block_model(600, 3000, seed=2, classes=4, homophily=homophily, signal=signal, features=200, words=20)
    return g, random_split(g, per_class=per_class, seed=0)


def test_random_edges_and_informative_features_give_knn() -> None:
    found = suggest_view(*made(homophily=0.25, signal=0.8))
    assert found.view == "knn"
    assert found.evidence["knn"] == max(found.evidence.values())
    assert found.reason.startswith("view weights by out-of-fold training labels: knn 0.")


def test_informative_edges_and_random_features_give_topology() -> None:
    found = suggest_view(*made(homophily=0.95, signal=0.0))
    assert found.view == "topology"
    assert found.evidence["neighbours"] > 1.5 * found.evidence["features"]


def test_where_both_are_informative_the_edges_stay() -> None:
    assert suggest_view(*made(homophily=0.9, signal=0.6)).view in ("topology", "union")


def test_labels_outside_training_and_validation_change_nothing() -> None:
    g, split = made(homophily=0.4, signal=0.5)
    known = np.concatenate([split.train, split.val])
    scrambled = np.random.default_rng(0).integers(0, 4, g.num_nodes)
    scrambled[known] = g.labels[known]
    hidden = np.full(g.num_nodes, -1)
    hidden[known] = g.labels[known]
    first = suggest_view(g, split)
    assert suggest_view(g.with_(labels=scrambled), split) == first
    assert suggest_view(g.with_(labels=hidden), split) == first


def test_without_features_or_edges_there_is_one_answer() -> None:
    g, split = made(homophily=0.9, signal=0.8)
    assert suggest_view(make_graph(None, g.adjacency, g.labels), split).view == "topology"
    no_edges = g.with_(adjacency=sp.csr_array((600, 600), dtype=np.float32))
    assert suggest_view(no_edges, split).view == "knn"
    with pytest.raises(GraphError, match="neither edges nor features"):
        suggest_view(make_graph(None, no_edges.adjacency, g.labels), split)


def test_with_one_label_per_class_homophily_decides() -> None:
    for homophily, views in ((0.9, {"topology"}), (0.25, {"knn", "union"})):
        g, split = made(homophily, 0.8, per_class=1)
        assert suggest_view(g, split.without_validation()).view in views


def test_a_split_without_a_class_is_refused() -> None:
    g, split = made(0.9, 0.5)
    less = Split.of(split.train[g.labels[split.train] > 0], [], [], g.num_nodes)
    with pytest.raises(SplitError, match="class '0' has no training label"):
        suggest_view(g, less)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "k", "views"),
    [
        ("cora", 5, {"topology", "union"}),
        ("citeseer", 3, {"topology", "union"}),
        pytest.param("flickr", 3, {"knn"}, marks=pytest.mark.slow),
        pytest.param("flickr", 20, {"knn"}, marks=pytest.mark.slow),
        pytest.param("pubmed", 3, {"topology", "union"}, marks=pytest.mark.slow),
        pytest.param("pubmed", 20, {"topology", "union"}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("validation", [True, False])
def test_the_real_graphs(name: str, k: int, views: set[str], validation: bool, data_root: Path) -> None:
    g = load(name, root=data_root)
    split = per_class_split(g, k, seed=0)
    assert suggest_view(g, split if validation else split.without_validation()).view in views
