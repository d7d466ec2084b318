"""Algorithm 1, line by line, recorded on a small graph; and its cost in trainings and samples (appendix)."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import torch

from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.nn.losses import CorrectedCrossEntropy, cross_entropy
from drgst.nn.ops.adjacency import Adjacency
from drgst.recipes import find_recipe
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History
from drgst.selftrain.learners.network import Network
from drgst.selftrain.problem import Problem
from drgst.selftrain.slots.correct import learn_transition, learn_transition_as_released
from drgst.selftrain.slots.stop import MaxStages
from drgst.selftrain.slots.weigh import normalised_gain
from drgst.transforms.softmax import softmax

STAGES = 2
QUICK = {"epochs": 25, "hidden": 8, "samples": 7, "threshold": 0.4, "beta": 1 / 3, "stages": STAGES, "lr": 0.05}


@dataclass
class Notebook:
    """Everything that the parts and the learner were called for, in order."""

    lines: list[str] = field(default_factory=list)
    beliefs: list[Any] = field(default_factory=list)
    trainings: list[dict[str, Any]] = field(default_factory=list)
    starts: list[torch.Tensor] = field(default_factory=list)  # first weights of every network


@dataclass(frozen=True)
class RecordedLearner(Network):
    """The usual learner, which notes each training."""

    book: Notebook = field(default_factory=Notebook)

    def network(self, features, classes, settings):  # type: ignore[no-untyped-def]
        network = super().network(features, classes, settings)
        self.book.starts.append(next(network.parameters()).detach().clone())
        return network

    def train(self, problem, targets, loss, seed, on_epoch):  # type: ignore[no-untyped-def]
        trained = super().train(problem, targets, loss, seed, on_epoch)
        self.book.lines.append("retrain with T" if isinstance(loss, CorrectedCrossEntropy) else "train")
        self.book.trainings.append({"targets": targets, "loss": loss, "seed": seed, "trained": trained})
        return trained


def recorded(name: str, problem: Problem) -> tuple[History, Notebook]:
    """Run a recipe with its parts wrapped so that they note when they are called."""
    book = Notebook()
    recipe = find_recipe(name).make(problem.settings)

    def select(beliefs):  # type: ignore[no-untyped-def]
        book.lines.append("select")
        book.beliefs.append(beliefs)
        return recipe.select(beliefs)

    def weigh(beliefs, pseudo):  # type: ignore[no-untyped-def]
        book.lines.append("weigh")
        return recipe.weigh(beliefs, pseudo)

    weigh.requires = getattr(recipe.weigh, "requires", frozenset())
    parts = replace(
        recipe,
        select=select,
        weigh=weigh,
        learner=RecordedLearner(**{**vars(recipe.learner), "book": book}),
        stop=(MaxStages(problem.settings.stages),),
    )
    return self_train(problem, parts), book


@pytest.fixture(scope="module")
def problem() -> Problem:
    """24 nodes in two groups, six labels, six validation nodes."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    chance = np.where(y[:, None] == y[None, :], 0.4, 0.06)
    a = np.triu(rng.random((24, 24)) < chance, 1)
    x = np.eye(2)[y] + rng.normal(scale=0.3, size=(24, 2))
    graph = make_graph(np.hstack([x, rng.normal(size=(24, 3))]), (a | a.T).astype(float), y)
    split = Split.of(np.arange(6), np.arange(6, 12), np.arange(12, 15), 24)
    return Problem.of(graph, split, find_recipe("drgst-de").settings(QUICK), seed=2)


@pytest.fixture(scope="module")
def run(problem: Problem) -> tuple[History, Notebook]:
    return recorded("drgst-de", problem)


def test_order_of_the_steps(run) -> None:
    """Line 1, then per stage: select, weigh, train without T, retrain with T; one more look tells it to stop."""
    stage = ["select", "weigh", "train", "retrain with T"]
    assert run[1].lines == ["train", *stage * STAGES, "select"]


def test_line_1_teacher_learns_from_true_labels_alone(run, problem) -> None:
    """The first training sees V_L with weight 1 and plain cross-entropy."""
    first = run[1].trainings[0]
    np.testing.assert_array_equal(first["targets"].nodes, problem.split.train)
    np.testing.assert_array_equal(first["targets"].weights, 1.0)
    assert first["loss"] is cross_entropy


@pytest.mark.parametrize("stage", range(1, STAGES + 1))
def test_lines_3_and_4_select_and_pseudo_label(run, problem, stage: int) -> None:
    """S_U = {u ∈ V_U : max_j p_uj > τ}, ȳ = argmax, by the teacher of the stage before; V_L keeps its labels."""
    history, book = run
    p = softmax(history[stage - 1].logits)
    pool = problem.split.pool
    nodes = np.array([u for u in pool if p[u].max() > 0.4])
    assert nodes.size > 0
    for training in book.trainings[2 * stage - 1 : 2 * stage + 1]:
        targets = training["targets"]
        np.testing.assert_array_equal(targets.nodes, np.concatenate([problem.split.train, nodes]))
        np.testing.assert_array_equal(
            targets.labels, np.concatenate([problem.graph.labels[problem.split.train], p[nodes].argmax(axis=1)])
        )


@pytest.mark.parametrize("stage", range(1, STAGES + 1))
def test_line_5_weights_stand_on_pseudo_labelled_nodes_only(run, problem, stage: int) -> None:
    """True labels weigh exactly 1, the others B̄ of the teacher's gain, whose mean is 1/β = 3; both trainings alike."""
    history, book = run
    before = history[stage - 1]
    size = problem.split.train.size
    for training in book.trainings[2 * stage - 1 : 2 * stage + 1]:
        targets = training["targets"]
        np.testing.assert_array_equal(targets.weights[:size], 1.0)
        wanted = normalised_gain(before.all_gain[targets.nodes[size:]], 1 / 3)
        np.testing.assert_allclose(targets.weights[size:], wanted)
        assert targets.weights[size:].mean() == pytest.approx(3.0)


@pytest.mark.parametrize("stage", range(1, STAGES + 1))
def test_lines_6_to_8_two_trainings_and_the_transition_between(run, problem, stage: int) -> None:
    """Train with plain cross-entropy; T from that student's output on V_L, begun at I; retrain through that T."""
    history, book = run
    first, second = book.trainings[2 * stage - 1 : 2 * stage + 1]
    assert first["loss"] is cross_entropy
    train = problem.split.train
    t = learn_transition(softmax(first["trained"].logits[train]), problem.graph.labels[train], 2)
    np.testing.assert_allclose(history[stage].transition, t, atol=1e-12)
    np.testing.assert_allclose(second["loss"].transition, torch.from_numpy(t).float())
    assert len(history[stage].trainings) == 2


def test_students_start_from_scratch(run, problem) -> None:
    """Each training, repeated alone with its own seed, is bit-identical: it does not depend on earlier ones."""
    for training in run[1].trainings:
        again = Network().train(problem, training["targets"], training["loss"], training["seed"], None)
        np.testing.assert_array_equal(again.logits, training["trained"].logits)
    seeds = [training["seed"] for training in run[1].trainings]
    assert len(set(seeds)) == len(seeds), "and each from starting weights of its own"


def test_line_9_student_replaces_teacher(run) -> None:
    """The next stage asks the retrained student, not the one without T, and the last one is the result."""
    history, book = run
    for stage in range(STAGES + 1):
        np.testing.assert_array_equal(book.beliefs[stage].logits, book.trainings[2 * stage]["trained"].logits)
        np.testing.assert_array_equal(history[stage].logits, book.trainings[2 * stage]["trained"].logits)
        assert book.beliefs[stage].stage == stage


@pytest.mark.parametrize(
    ("name", "per_stage", "corrected", "weighted"),
    [
        ("drgst-do", 2, True, True),
        ("drgst-both", 2, True, True),
        ("drgst-de-lc", 2, True, False),
        ("drgst-de-ig", 1, False, True),
        ("drgst-do-wo", 1, False, False),
        ("as-released-de", 1, True, True),
    ],
)
def test_cost_in_trainings(problem, name: str, per_stage: int, corrected: bool, weighted: bool) -> None:
    """Appendix: a student is trained twice a stage, about twice a general self-training; ablations once.

    Two stages give 1 + 2 · 2 trainings with T and 1 + 2 without; the weights differ from 1 where gain weighs.
    """
    spec = find_recipe(name)
    settings = spec.settings(spec.readable(QUICK))
    history, book = recorded(name, replace(problem, settings=settings))
    assert len(book.trainings) == 1 + STAGES * per_stage == sum(len(s.trainings) for s in history.stages)
    last = book.trainings[-1]
    assert isinstance(last["loss"], CorrectedCrossEntropy) == corrected
    assert (np.ptp(last["targets"].weights) > 0) == weighted
    assert (history[-1].transition is not None) == corrected


def test_cost_in_samples(problem, monkeypatch) -> None:
    """Appendix: T samples a stage for the gain, no more: 7 draws of edges for each network that may teach."""
    draws = []
    original = Adjacency.drop
    monkeypatch.setattr(Adjacency, "drop", lambda self, rate, rng: draws.append(rate) or original(self, rate, rng))
    recorded("drgst-de", problem)
    assert len(draws) == 7 * (STAGES + 1)


def test_as_released_updates_the_transition_after_every_training(problem) -> None:
    """The published program: T from the teacher's output, then from each student's; weights on V_L as well."""
    settings = find_recipe("as-released-de").settings(QUICK)
    history, book = recorded("as-released-de", replace(problem, settings=settings))
    train, labels, t = problem.split.train, problem.graph.labels[problem.split.train], np.eye(2)
    for stage in (1, 2):
        t = learn_transition_as_released(softmax(history[stage - 1].logits[train]), labels, t)
        np.testing.assert_allclose(book.trainings[stage]["loss"].transition, t, atol=1e-6)
        np.testing.assert_array_equal(history[stage].transition, t)
    weights = book.trainings[1]["targets"].weights
    assert weights.mean() == pytest.approx(1.0)
    assert np.ptp(weights[:6]) > 0
    assert all(torch.equal(start, book.starts[0]) for start in book.starts), "every training from the same weights"
    assert len({book.beliefs[0].gain.tobytes(), book.beliefs[1].gain.tobytes()}) == 2, "but the gain of each network"
    _, paper = recorded("drgst-de", problem)
    assert not any(torch.equal(start, paper.starts[0]) for start in paper.starts[1:])
