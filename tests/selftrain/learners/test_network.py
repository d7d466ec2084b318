"""The training of a network: weight decay, early stopping, and where its weights begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from drgst.nn.losses import cross_entropy
from drgst.nn.random import generator
from drgst.selftrain.learners.base import Trained
from drgst.selftrain.learners.network import DividedLoss, DividedTeacherLoss, Network, weighted_loss
from drgst.selftrain.problem import Problem, Targets


def train(problem: Problem, part: Network | None = None, seed: tuple[int, ...] = (0, 0, 0, 0)) -> Trained:
    nodes = problem.split.train
    targets = Targets(nodes, problem.graph.labels[nodes], np.ones(nodes.size), nodes.size)
    return (part or Network()).train(problem, targets, cross_entropy, seed, None)


def test_every_training_starts_afresh_or_from_the_same_weights(world: Any) -> None:
    """Stage, attempt and training number change the start; with ``one_seed`` the attempt alone does."""
    problem = world.problem(epochs=1)
    seeds = [(0, 0, 0, 0), (0, 1, 0, 0), (0, 1, 0, 1), (0, 1, 1, 1)]
    for same, different in ((False, 4), (True, 2)):
        logits = [train(problem, Network(one_seed=same), seed).logits for seed in seeds]
        assert len({array.tobytes() for array in logits}) == different


def test_one_seed_is_also_that_of_the_gain(world: Any) -> None:
    """The samples of every stage are the same, whatever generator the trainer gives."""
    problem = world.problem(epochs=2)
    for one_seed, different in ((False, 2), (True, 1)):
        trained = train(problem, Network(one_seed=one_seed))
        assert len({trained.gain(generator(s), True).tobytes() for s in (1, 2)}) == different


def test_divided_loss(world: Any) -> None:
    """Every loss is divided by β, that of the teacher included; the weights of the targets stay as they are."""
    problem = world.problem()
    nodes = problem.split.train
    targets = Targets(nodes, problem.graph.labels[nodes], np.linspace(0.5, 1.5, nodes.size), nodes.size)
    logits = torch.randn(nodes.size, 3, generator=torch.Generator().manual_seed(0))
    plain, divided = (make(problem, targets, cross_entropy)(logits, 0) for make in (weighted_loss, DividedLoss(0.25)))
    assert divided.item() == pytest.approx(4 * plain.item(), rel=1e-6)
    assert targets.weights[0] == 0.5


@pytest.mark.parametrize(("true", "factor"), [(9, 4.0), (6, 1.0)])
def test_divided_teacher_loss(world: Any, true: int, factor: float) -> None:
    """The loss is divided by β where all targets are true labels, and only there."""
    problem = world.problem()
    nodes = problem.split.train
    targets = Targets(nodes, problem.graph.labels[nodes], np.ones(nodes.size), true)
    logits = torch.randn(nodes.size, 3, generator=torch.Generator().manual_seed(0))
    makers = weighted_loss, DividedTeacherLoss(0.25)
    plain, made = (make(problem, targets, cross_entropy)(logits, 0) for make in makers)
    assert made.item() == pytest.approx(factor * plain.item(), rel=1e-6)
