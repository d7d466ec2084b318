"""Logistic regression on propagated features: by hand, weighted, and refused without features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import drgst
from drgst.errors import GraphError
from drgst.graph.core import make_graph
from drgst.nn.losses import cross_entropy
from drgst.selftrain.learners.logistic import LogisticPPR, smoothed_rows
from drgst.selftrain.problem import Targets
from drgst.transforms.propagate import sym_norm


def test_smoothed_rows_against_the_dense_matrix(world: Any) -> None:
    dense = 0.1 * np.linalg.inv(np.eye(60) - 0.9 * sym_norm(world.graph.adjacency).toarray())
    nodes = np.array([3, 11, 40])
    np.testing.assert_allclose(
        smoothed_rows(world.graph, world.graph.features, nodes, 0.1), (dense @ world.graph.features)[nodes], atol=1e-5
    )


def test_sample_weights_count(world: Any) -> None:
    """A node of weight 0 is as good as absent."""
    problem = world.problem("logistic-ppr")
    nodes, labels = np.arange(9), world.graph.labels[:9]
    wrong = np.append(labels, 0)
    some = Targets(nodes, labels, np.ones(9), 9)
    more = Targets(np.arange(10), wrong, np.append(np.ones(9), 0.0), 9)
    full = Targets(np.arange(10), wrong, np.ones(10), 9)
    one, two, three = (LogisticPPR().train(problem, t, cross_entropy, (0,), None).logits for t in (some, more, full))
    np.testing.assert_allclose(one, two, atol=1e-2)
    assert np.abs(one - three).max() > 0.1


def test_two_classes_and_no_validation(worlds: Any) -> None:
    world = worlds(classes=2)
    model = drgst.SelfTraining("logistic-ppr").fit(world.graph, world.split.without_validation())
    assert model.probabilities_.shape == (60, 2)
    assert model.score(world.graph, world.split.test) > 0.7


def test_no_features() -> None:
    graph = make_graph(None, np.diag(np.ones(3), 1), [0, -1, -1, 1])
    with pytest.raises(GraphError, match="logistic-ppr needs features"):
        drgst.SelfTraining("logistic-ppr").fit(graph)
