"""Homophily without labels: chance level where edges are random, more where they join similar nodes."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.transforms.features import centre, row_l2
from drgst.transforms.homophily import homophily


def by_features(share: float) -> float:
    """Of a block model in which so many edges join nodes of one class."""
    graph: Graph = block_model(600, 2_400, seed=3, classes=4, features=200, homophily=share, signal=0.5)
    z = centre(row_l2(graph.features.toarray()))
    return homophily(graph.adjacency, z, graph.num_classes, np.random.default_rng(0))


def test_random_edges_and_edges_within_classes() -> None:
    assert by_features(0.25) == pytest.approx(0.5, abs=0.03)
    assert by_features(0.25) < by_features(0.6) < by_features(0.95)
    assert by_features(0.95) > 0.7


def test_heterophilous_edges_are_below_chance() -> None:
    assert by_features(0.0) < 0.47
