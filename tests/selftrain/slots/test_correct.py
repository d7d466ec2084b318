"""No correction, the paper's transition matrix, and one that is carried from stage to stage."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from drgst.nn.losses import CorrectedCrossEntropy, cross_entropy
from drgst.selftrain.learners.network import Network
from drgst.selftrain.problem import Targets
from drgst.selftrain.slots.correct import (
    CarriedTransition,
    Labelled,
    NoCorrection,
    Teacher,
    Transition,
    learn_transition,
    learn_transition_as_released,
)
from drgst.transforms.softmax import softmax


@dataclass
class Trainer:
    """Trains the usual network on the true labels of a world and notes the losses it was given."""

    problem: object
    losses: list = field(default_factory=list)

    def __call__(self, loss):  # type: ignore[no-untyped-def]
        train = self.problem.split.train
        targets = Targets(train, self.problem.graph.labels[train], np.ones(train.size), train.size)
        self.losses.append(loss)
        return Network().train(self.problem, targets, loss, (0, 1, 0, len(self.losses)), None)


@pytest.fixture
def trainer(world) -> Trainer:
    return Trainer(world.problem())


@pytest.fixture
def labelled(world) -> Labelled:
    return Labelled(world.split.train, world.graph.labels[world.split.train], 3)


def test_no_correction(trainer, labelled) -> None:
    made = NoCorrection()(trainer, labelled, None)
    assert trainer.losses == [cross_entropy]
    assert made.transition is None
    assert made.trainings == (made.student,)


@pytest.mark.parametrize("before", [None, np.full((3, 3), 1 / 3)])
def test_transition_trains_twice_and_forgets_the_stage_before(trainer, labelled, before) -> None:
    made = Transition()(trainer, labelled, before)
    assert trainer.losses[0] is cross_entropy
    assert isinstance(trainer.losses[1], CorrectedCrossEntropy)
    first, second = made.trainings
    assert made.student is second
    t = learn_transition(softmax(first.logits[labelled.nodes]), labelled.labels, 3)
    np.testing.assert_array_equal(made.transition, t)


def test_corrected_loss_survives_a_transition_that_is_no_distribution() -> None:
    """Eq. update_T allows negative entries: below 1e-8 counts as 1e-8, so the loss stays finite, gradient and all."""
    z = torch.tensor([[5.0, -5.0]], requires_grad=True)
    loss = CorrectedCrossEntropy(torch.tensor([[1.0, -0.2], [0.0, 1.0]]))(z, torch.tensor([1])).sum()
    loss.backward()
    assert loss.item() == pytest.approx(-np.log(1e-8), rel=1e-5)
    assert torch.isfinite(z.grad).all()


def test_carried_transition_trains_once_with_the_updated_one(trainer, labelled) -> None:
    before = np.array([[0.8, 0.1, 0.1], [0.0, 1.0, 0.0], [0.2, 0.0, 0.8]])
    logits = np.random.default_rng(0).normal(size=(60, 3))
    p = softmax(logits[labelled.nodes])
    for place, transition in enumerate((before, None)):
        made = CarriedTransition()(trainer, labelled, Teacher(logits, transition))
        start = np.eye(3) if transition is None else transition
        wanted = learn_transition_as_released(p, labelled.labels, start)
        np.testing.assert_array_equal(made.transition, wanted)
        np.testing.assert_allclose(trainer.losses[place].transition, torch.from_numpy(wanted).float())
        assert len(made.trainings) == 1
    assert before[0, 0] == 0.8, "what it was given is not changed"
