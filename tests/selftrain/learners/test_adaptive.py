"""ABN's objective by hand: what is pseudo-labelled, how classes are balanced, and which pairs may be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from drgst.graph.core import make_graph
from drgst.nn.losses import cross_entropy
from drgst.nn.random import generator
from drgst.selftrain.learners.adaptive import Adaptive, NonNeighbours
from drgst.selftrain.problem import Targets


def targets(world: Any) -> Targets:
    train = world.split.train
    return Targets(train, world.graph.labels[train], np.ones(train.size), train.size)


def test_pairs_are_never_adjacent_and_never_equal(world: Any) -> None:
    a = world.graph.adjacency.toarray()
    non_neighbours = NonNeighbours(world.graph.adjacency)
    rng, nodes = generator(3), np.arange(60)
    seen = 0
    for _ in range(200):
        i, j = non_neighbours.draw(nodes, nodes, rng)
        assert (i != j).all()
        assert (a[i, j] == 0).all()
        seen += i.size
    share = 1 - (a.sum() + 60) / 3600  # of all pairs that are allowed
    assert seen / (200 * 60) == pytest.approx(share, abs=0.02)


def test_a_complete_graph_has_no_such_pairs() -> None:
    graph = make_graph(None, np.ones((4, 4)) - np.eye(4), [0, 1, -1, -1])
    i, j = NonNeighbours(graph.adjacency).draw(np.arange(4).repeat(50), np.arange(4), generator(0))
    assert i.size == j.size == 0


def test_a_graph_without_edges() -> None:
    graph = make_graph(None, np.zeros((3, 3)), [0, 1, -1])
    i, j = NonNeighbours(graph.adjacency).draw(np.arange(3).repeat(50), np.arange(3), generator(0))
    assert i.size
    assert (np.arange(3).repeat(50)[i] != j).all()


def test_the_loss_by_hand(world: Any) -> None:
    """Two confident nodes of class 0 count 1/2 each, one of class 2 counts 1, an unsure one nothing."""
    problem = world.problem()
    part = Adaptive(threshold=0.9, pseudo_weight=0.3, negative_weight=0.0)
    objective = part(problem, targets(world), cross_entropy)
    assert objective.nodes.size == world.split.train.size + world.split.pool.size
    logits = torch.zeros(objective.nodes.size, 3)
    first = world.split.train.size
    for row, k in ((first, 0), (first + 1, 0), (first + 2, 2)):
        logits[row, k] = 4.0
    logits[first + 3, 1] = 2.0  # 0.79: below the threshold
    sure = -np.log(np.exp(4) / (np.exp(4) + 2))
    expected = np.log(3) + 0.3 * (sure / 2 + sure / 2 + sure)
    assert objective(logits, 0).item() == pytest.approx(expected, rel=1e-5)


def test_no_gradient_through_the_choice_and_a_finite_one_at_certainty(world: Any) -> None:
    objective = Adaptive(0.9, 1.0, 1.0)(world.problem(), targets(world), cross_entropy)
    logits = torch.full((objective.nodes.size, 3), -200.0)
    logits[:, 0] = 200.0  # p = 1 exactly: -log(1 - p) would be infinite
    logits.requires_grad_()
    loss = objective(logits, 0)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(logits.grad).all()


def test_negative_pairs_lower_the_class_of_others(world: Any) -> None:
    """Only the negative term: its gradient raises no logit of the class it speaks against."""
    objective = Adaptive(0.999, 0.0, 1.0, negatives=500)(world.problem(), targets(world), cross_entropy)
    logits = torch.zeros(objective.nodes.size, 3, requires_grad=True)
    value = objective.negative(logits, np.arange(9), objective.labels)
    assert value.item() == pytest.approx(-np.log(2 / 3), rel=1e-4)
    value.backward()
    assert abs(logits.grad.sum().item()) < 1e-5
    assert (logits.grad != 0).any()


def test_abn_is_one_training_that_selects_by_itself(world: Any) -> None:
    history = world.run("abn", threshold=0.5)
    assert len(history) == 1
    assert history[0].val_accuracy > 0.5
    again = world.run("abn", threshold=0.5)
    np.testing.assert_array_equal(history[0].logits, again[0].logits)
    other = world.run("abn", threshold=0.5, negative_weight=0)
    assert not np.array_equal(history[0].logits, other[0].logits)


def test_staged_pseudo_labels_are_those_of_the_stage(world: Any) -> None:
    """The same terms by hand: CE of V_L, 1/n_k for each pseudo-label of the stage, whatever the logits are."""
    problem, own = world.problem(), targets(world)
    extra = world.split.pool[:3]
    nodes = np.concatenate([own.nodes, extra])
    both = Targets(nodes, np.concatenate([own.labels, [0, 0, 2]]), np.ones(nodes.size), own.true)
    objective = Adaptive(0.9, 0.3, 0.0, staged=True)(problem, both, cross_entropy)
    logits = torch.randn(objective.nodes.size, 3, generator=torch.Generator().manual_seed(1))
    np.testing.assert_array_equal(objective.nodes[: nodes.size], nodes)
    each = cross_entropy(logits[: nodes.size], torch.from_numpy(both.labels))
    wanted = each[: own.true].mean() + 0.3 * (each[own.true :] * torch.tensor([0.5, 0.5, 1.0])).sum()
    assert objective(logits, 0).item() == pytest.approx(wanted.item(), rel=1e-6)
    teacher = Adaptive(0.9, 0.3, 0.1, staged=True)(problem, own, cross_entropy)
    assert torch.isfinite(teacher(logits, 0)), "without pseudo-labels there are negative pairs of V_L alone"
