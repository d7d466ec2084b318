"""The suggestion of a view: right on graphs made to be clear, and blind to labels outside training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.errors import SplitError
from drgst.graph.core import Graph, make_graph
from drgst.graph.datasets.load import load
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.split import Split, per_class_split, random_split
from drgst.graph.transforms.features import unit_rows
from drgst.graph.transforms.suggest import feature_agreement, leave_one_out, suggest_view


def made(homophily: float, signal: float) -> tuple[Graph, Split]:
    g = block_model(600, 3000, seed=2, classes=4, homophily=homophily, signal=signal, features=200, words=20)
    return g, random_split(g, per_class=8, seed=0)


def test_random_edges_and_telling_features_give_knn() -> None:
    found = suggest_view(*made(homophily=0.25, signal=0.8))
    assert found.view == "knn"
    assert found.evidence["leave_one_out_knn"] > 0.9
    assert "best over knn" in found.reason


def test_telling_edges_and_random_features_give_topology() -> None:
    found = suggest_view(*made(homophily=0.95, signal=0.0))
    assert found.view == "topology"
    assert found.evidence["leave_one_out_topology"] > found.evidence["leave_one_out_knn"]


def test_a_little_of_both_never_drops_the_edges() -> None:
    assert suggest_view(*made(homophily=0.9, signal=0.6)).view in ("topology", "union")


def test_labels_outside_training_change_nothing() -> None:
    g, split = made(homophily=0.4, signal=0.5)
    scrambled = np.random.default_rng(0).integers(0, 4, g.num_nodes)
    scrambled[split.train] = g.labels[split.train]
    hidden = np.full(g.num_nodes, -1)
    hidden[np.concatenate([split.train, split.val])] = g.labels[np.concatenate([split.train, split.val])]
    first = suggest_view(g, split)
    assert suggest_view(g.with_(labels=scrambled), split) == first
    assert suggest_view(g.with_(labels=hidden), split) == first


def test_leave_one_out_by_hand() -> None:
    """Two triangles: every node is next to its own class; the lone node 6 has no other of its class and isn't asked."""
    triangle = np.ones((3, 3)) - np.eye(3)
    g = make_graph(None, sp.block_diag([triangle, triangle, [[0.0]]]).toarray(), [0, 0, 0, 1, 1, 1, 2])
    split = Split.of(np.arange(7), [], [], 7)
    assert leave_one_out(g.adjacency, g, split).tolist() == [1] * 6
    crossed = g.with_(labels=np.array([0, 0, 1, 1, 1, 0, 2]))
    assert leave_one_out(crossed.adjacency, crossed, split).tolist() == [1, 1, 0, 1, 1, 0]
    unreached = leave_one_out(sp.csr_array((7, 7), dtype=np.float32), g, split)
    assert unreached.tolist() == pytest.approx([1 / 3] * 6)  # a tie of three classes


def test_feature_agreement_is_one_half_by_chance_and_one_at_best() -> None:
    rng = np.random.default_rng(0)
    assert feature_agreement(made(0.9, 0.0)[0], rng) == pytest.approx(0.5, abs=0.02)
    x = np.repeat(np.eye(50), 2, axis=0)
    pairs = sp.block_diag([np.array([[0, 1], [1, 0]])] * 50).toarray()
    g = make_graph(x, pairs, np.arange(100) // 2 % 2)
    assert feature_agreement(g, rng) > 0.99
    assert isinstance(unit_rows(g.features), np.ndarray)  # the dense way was taken


def test_without_features_or_edges_there_is_one_answer() -> None:
    a = np.array([[0, 1], [1, 0]])
    split = Split.of([0, 1], [], [], 2)
    assert suggest_view(make_graph(None, a, [0, 1]), split).view == "topology"
    assert suggest_view(make_graph(np.eye(2), sp.coo_array((2, 2)), [0, 1]), split).view == "knn"


def test_one_label_per_class_keeps_the_edges_and_says_so() -> None:
    g, _ = made(0.9, 0.5)
    found = suggest_view(g, random_split(g, per_class=1, seed=0))
    assert found.view == "topology"
    assert found.reason.startswith("No class has two training labels")
    assert found.evidence["leave_one_out_knn"] is None


def test_a_split_without_a_class_is_refused() -> None:
    g, split = made(0.9, 0.5)
    less = Split.of(split.train[g.labels[split.train] > 0], [], [], g.num_nodes)
    with pytest.raises(SplitError, match="class '0' has no training label"):
        suggest_view(g, less)


@pytest.mark.parametrize("k", [5, 20])
def test_cora_keeps_its_edges(cora: Graph, k: int) -> None:
    assert suggest_view(cora, per_class_split(cora, k, seed=0)).view in ("topology", "union")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "k", "views"),
    [
        ("citeseer", 3, {"topology", "union"}),
        ("citeseer", 20, {"topology", "union"}),
        ("flickr", 3, {"knn"}),
        ("flickr", 5, {"knn"}),
        pytest.param("flickr", 20, {"knn"}, marks=pytest.mark.slow),
        pytest.param("pubmed", 3, {"topology", "union"}, marks=pytest.mark.slow),
        pytest.param("pubmed", 20, {"topology", "union"}, marks=pytest.mark.slow),
    ],
)
def test_the_real_graphs(name: str, k: int, views: set[str], data_root: Path) -> None:
    g = load(name, root=data_root)
    assert suggest_view(g, per_class_split(g, k, seed=0)).view in views
