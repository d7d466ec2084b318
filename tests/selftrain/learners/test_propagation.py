"""Label propagation: by hand, against the dense solution, and refused on another graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import drgst
from drgst.errors import GraphError
from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.nn.losses import cross_entropy
from drgst.selftrain.learners.propagation import LabelPropagation, row_probabilities
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.transforms.propagate import sym_norm_without_loops
from drgst.transforms.softmax import softmax


def test_against_the_dense_solution(world: Any) -> None:
    s = sym_norm_without_loops(world.graph.adjacency).astype(np.float64).toarray()
    problem = world.problem("label-propagation")
    nodes, labels = np.arange(9), world.graph.labels[:9]
    targets = Targets(nodes, labels, np.arange(1.0, 10.0), 9)
    y = np.zeros((60, 3))
    y[nodes, labels] = targets.weights
    dense = 0.1 * np.linalg.solve(np.eye(60) - 0.9 * s, y)
    p = softmax(LabelPropagation().train(problem, targets, cross_entropy, (0,), None).logits)
    np.testing.assert_allclose(p, row_probabilities(dense), atol=1e-5)


def test_a_path_by_hand() -> None:
    """0 - 1 - 2 labelled at its ends with weights 3 and 1: the middle node gets ¾ and ¼; an isolated node gets ½."""
    a = np.zeros((4, 4))
    a[0, 1] = a[1, 2] = 1
    graph = make_graph(None, a, [0, -1, 1, -1])
    problem = Problem.of(graph, Split.of([0, 2], [], [], 4), Settings())
    targets = Targets(np.array([0, 2]), np.array([0, 1]), np.array([3.0, 1.0]), 2)
    p = softmax(LabelPropagation().train(problem, targets, cross_entropy, (0,), None).logits)
    np.testing.assert_allclose(p[1], [0.75, 0.25], atol=1e-3)
    np.testing.assert_allclose(p[3], [0.5, 0.5], atol=1e-6)


def test_no_class_is_impossible() -> None:
    p = row_probabilities(np.array([[1.0, 0], [0, 0]]))
    assert p.min() > 0
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_it_predicts_on_graphs_that_contain_its_labelled_nodes(world: Any, worlds: Any) -> None:
    model = drgst.SelfTraining("label-propagation").fit(world.graph, world.split)
    with pytest.raises(GraphError, match="9 of its 9 labelled nodes are not in this one"):
        model.predict(worlds(nodes=90).graph)
