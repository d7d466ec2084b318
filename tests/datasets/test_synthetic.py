"""Graphs made to order have what was ordered."""

import resource
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drgst.datasets.synthetic import block_model, gaussian_circles
from drgst.errors import SettingError
from drgst.graph.split import random_split
from drgst.graph.stats import edge_homophily, statistics


@settings(max_examples=40, deadline=None)
@given(
    nodes=st.integers(60, 300),
    degree=st.floats(0, 8),
    classes=st.integers(2, 5),
    homophily=st.floats(0, 1),
    imbalance=st.floats(1, 5),
    seed=st.integers(0, 2**32),
)
def test_any_order_is_met_exactly_or_refused(
    nodes: int, degree: float, classes: int, homophily: float, imbalance: float, seed: int
) -> None:
    edges = int(nodes * degree / 2)
    settings_ = {"classes": classes, "homophily": homophily, "imbalance": imbalance, "features": 30}
    sizes = np.bincount(block_model(nodes, 0, seed=seed, **settings_).labels)  # type: ignore[arg-type]
    inside, within = round(homophily * edges), int((sizes * (sizes - 1) // 2).sum())
    if inside > within // 2 or edges - inside > (nodes * (nodes - 1) // 2 - within) // 2:
        with pytest.raises(SettingError, match="at most half of the"):
            block_model(nodes, edges, seed=seed, **settings_)  # type: ignore[arg-type]
        return
    g = block_model(nodes, edges, seed=seed, **settings_)  # type: ignore[arg-type]
    assert (g.num_nodes, g.num_edges, g.num_classes, g.num_features) == (nodes, edges, classes, 30)
    assert not g.notes
    assert not g.weighted
    if edges:
        assert edge_homophily(g) == pytest.approx(round(homophily * edges) / edges)


def test_a_seed_gives_the_same_graph_again() -> None:
    one, again, other = (block_model(200, 600, seed=seed) for seed in (1, 1, 2))
    assert (one.adjacency != again.adjacency).nnz == 0
    assert (one.features != again.features).nnz == 0
    assert (one.adjacency != other.adjacency).nnz > 0


def test_imbalance_is_the_ratio_of_largest_to_smallest_class() -> None:
    counts = list(statistics(block_model(10_000, 10, seed=0, classes=4, imbalance=8)).label_counts.values())
    assert counts[0] / counts[-1] == pytest.approx(8, rel=0.02)
    assert counts[0] / counts[1] == pytest.approx(2, rel=0.02)
    assert sum(counts) == 10_000


@pytest.mark.parametrize(("signal", "share"), [(0.0, 0.25), (1.0, 1.0), (0.6, 0.7)])
def test_words_follow_the_class_as_asked(signal: float, share: float) -> None:
    g = block_model(4000, 10, seed=0, classes=4, features=400, words=3, signal=signal)
    rows = np.repeat(np.arange(4000), np.diff(g.features.indptr))
    own = g.features.indices // 100 == g.labels[rows]
    assert own.mean() == pytest.approx(share, abs=0.02)
    assert set(g.features.data.tolist()) == {1.0}
    assert np.diff(g.features.indptr).max() <= 3


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"classes": 1}, "classes = 1, but at least 2"),
        ({"nodes": 5}, "nodes = 5, but at least 10"),
        ({"edges": -1}, "edges = -1"),
        ({"imbalance": 0.5}, "imbalance = 0.5"),
        ({"features": 3}, "features = 3, but at least 5"),
        ({"words": 0}, "words = 0"),
        ({"homophily": 1.1}, "homophily = 1.1"),
        ({"signal": float("nan")}, "signal = nan"),
        ({"edges": 4000}, "3200 edges within classes were asked for; at most half of the 950 pairs"),
    ],
)
def test_an_impossible_order_is_refused(wrong: dict[str, Any], word: str) -> None:
    with pytest.raises(SettingError, match=word):
        block_model(**{"nodes": 100, "edges": 200, "seed": 0, **wrong})


def test_the_papers_toy() -> None:
    g = gaussian_circles(seed=0)
    assert statistics(g).label_counts == {"gaussian": 500, "circle 0.8": 2000, "circle 1": 2000}
    blob, rings = g.features[g.labels == 0], g.features[g.labels > 0]
    assert blob.mean(0) == pytest.approx([0, 0], abs=0.05)
    assert blob.std(0) == pytest.approx([0.3, 0.3], abs=0.03)
    assert np.linalg.norm(rings, axis=1).mean() == pytest.approx(0.9, abs=0.02)
    assert (g.degrees >= 10).all()


@pytest.mark.parametrize("wrong", [{"gaussian": 0}, {"circles": 1}, {"radii": ()}, {"k": 0}, {"k": 4500}])
def test_an_impossible_toy_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match="gaussian_circles needs"):
        gaussian_circles(seed=0, **wrong)


@pytest.mark.slow
def test_a_million_nodes_within_four_gigabytes() -> None:
    code = "from drgst import block_model; block_model(1_000_000, 10_000_000, seed=0, classes=10)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 4 * 2**20  # kilobytes


def test_a_random_split_of_the_same_seed_has_all_classes() -> None:
    """Both permute the nodes; with one stream the test nodes would be of one or two classes."""
    graph = block_model(2_000, 0, seed=0, classes=10)
    split = random_split(graph, per_class=10, seed=0, val=0, test=300)
    assert np.bincount(graph.labels[split.test], minlength=10).min() > 15
