"""Learners without a network: label propagation and logistic regression by hand, their runs and saved models."""

from typing import Any

import numpy as np
import pytest

import drgst
from drgst.errors import GraphError, SettingError
from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.nn.losses import cross_entropy
from drgst.selftrain.learners.without_network import LabelPropagation, LogisticPPR, row_probabilities, smoothed_rows
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.weigh import InformationGain
from drgst.transforms.propagate import sym_norm, sym_norm_without_loops
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


def test_it_predicts_on_graphs_that_contain_its_labelled_nodes(world: Any, worlds: Any) -> None:
    model = drgst.SelfTraining("label-propagation").fit(world.graph, world.split)
    with pytest.raises(GraphError, match="9 of its 9 labelled nodes are not in this one"):
        model.predict(worlds(nodes=90).graph)


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


def test_no_features() -> None:
    graph = make_graph(None, np.diag(np.ones(3), 1), [0, -1, -1, 1])
    with pytest.raises(GraphError, match="logistic-ppr needs features"):
        drgst.SelfTraining("logistic-ppr").fit(graph)


@pytest.mark.parametrize("learner", [LabelPropagation(), LogisticPPR()])
def test_no_gain_is_refused_where_it_decides(world: Any, learner: Any) -> None:
    with pytest.raises(SettingError, match="no information gain"):
        drgst.SelfTraining(Recipe(learner=learner, weigh=InformationGain(0.5))).fit(world.graph, world.split)
