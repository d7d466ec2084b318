"""Networks and their objectives: where weights begin, divided losses, ABN and IceBerg by hand."""

from typing import Any

import numpy as np
import pytest
import torch

from drgst.graph.core import make_graph
from drgst.nn.losses import cross_entropy
from drgst.nn.random import generator
from drgst.selftrain.learners.base import Trained
from drgst.selftrain.learners.network import DividedLoss, DividedTeacherLoss, Network, weighted_loss
from drgst.selftrain.learners.objectives import (
    Adaptive,
    DoubleBalancing,
    NonNeighbours,
    balanced_cross_entropy,
    reverse_cross_entropy,
)
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


def true_targets(world: Any) -> Targets:
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
    objective = part(problem, true_targets(world), cross_entropy)
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
    objective = Adaptive(0.9, 1.0, 1.0)(world.problem(), true_targets(world), cross_entropy)
    logits = torch.full((objective.nodes.size, 3), -200.0)
    logits[:, 0] = 200.0  # p = 1 exactly: -log(1 - p) would be infinite
    logits.requires_grad_()
    loss = objective(logits, 0)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(logits.grad).all()


def test_negative_pairs_lower_the_class_of_others(world: Any) -> None:
    """Only the negative term: its gradient raises no logit of the class it speaks against."""
    objective = Adaptive(0.999, 0.0, 1.0, negatives=500)(world.problem(), true_targets(world), cross_entropy)
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
    problem, own = world.problem(), true_targets(world)
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


LOGITS = torch.tensor([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 3.0], [0.5, 0.0, 0.0]])


def test_balanced_cross_entropy_adds_the_log_of_the_shares() -> None:
    labels = torch.tensor([0, 1, 0, 0])
    shares = np.array([3, 1, 1]) / 5  # class 2 counts as one label
    z = LOGITS.double().numpy() + np.log(shares)
    wanted = np.log(np.exp(z).sum(axis=1)) - z[np.arange(4), labels.numpy()]
    np.testing.assert_allclose(balanced_cross_entropy(LOGITS.double(), labels), wanted)
    equal = torch.tensor([0, 1, 2])
    np.testing.assert_allclose(balanced_cross_entropy(LOGITS[:3], equal), cross_entropy(LOGITS[:3], equal), rtol=1e-6)


def test_reverse_cross_entropy_is_bounded() -> None:
    labels = torch.tensor([1, 1, 0, 2])
    p = LOGITS.softmax(dim=1)[torch.arange(4), labels]
    np.testing.assert_allclose(reverse_cross_entropy(LOGITS, labels), 4 * (1 - p), rtol=1e-6)
    assert reverse_cross_entropy(1e4 * LOGITS, labels).max() <= 4


def test_the_balanced_loss_by_hand(world: Any) -> None:
    problem, train = world.problem(), world.split.train
    targets = Targets(train, world.graph.labels[train], np.ones(train.size), train.size)
    objective = DoubleBalancing(0.5, reverse=0.25, warm_up=3)(problem, targets, cross_entropy)
    logits = torch.zeros(objective.nodes.size, 3)
    logits[train.size, 0] = logits[train.size + 1, 2] = 4.0  # two nodes of the pool above the mean confidence
    supervised = objective(logits, 2)
    assert supervised.item() == pytest.approx(np.log(3), rel=1e-6), "equal shares, equal logits"
    rows, labels = objective.pseudo_labels(logits)
    assert (rows.tolist(), labels.tolist()) == ([train.size, train.size + 1], [0, 2])
    pseudo = balanced_cross_entropy(logits[rows], labels) + 0.25 * reverse_cross_entropy(logits[rows], labels)
    assert objective(logits, 3).item() == pytest.approx((supervised + 0.5 * pseudo.mean()).item(), rel=1e-6)


def test_the_recipe_learns(world: Any) -> None:
    history = world.run("iceberg", epochs=100, hidden=16)
    assert len(history) == 1
    assert history.stop_reason.startswith("pseudo-labels are selected inside training")
    labels = world.graph.labels[world.split.val]
    assert (history[0].predictions[world.split.val] == labels).mean() > 0.6
