"""What every correct part keeps to, also a user's own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from drgst.nn.losses import NodeLoss, cross_entropy
from drgst.selftrain.learners.base import Trained
from drgst.selftrain.learners.network import Network
from drgst.selftrain.parts import CarriedTransition, NoCorrection, Transition
from drgst.selftrain.problem import Targets
from drgst.selftrain.slots.correct import Corrected, Labelled, Teacher, TrainOnce


def twice(train: TrainOnce, labelled: Labelled, teacher: Teacher) -> Corrected:
    """A user's function: of two trainings the second."""
    first, second = train(cross_entropy), train(cross_entropy)
    return Corrected(second, (first, second))


@dataclass(frozen=True)
class Softened:
    """A user's part with a loss of its own."""

    factor: float

    def __call__(self, train: TrainOnce, labelled: Labelled, teacher: Teacher) -> Corrected:
        student = train(lambda logits, labels: self.factor * cross_entropy(logits, labels))
        return Corrected(student, (student,))


SLOT = "correct"
OURS = (NoCorrection(), Transition(), CarriedTransition())
OWN = (twice, Softened(0.5))


@pytest.mark.parametrize("before", [None, np.full((3, 3), 1 / 3)])
def test_a_student_its_trainings_and_a_transition(part: Any, before: np.ndarray | None, world: Any) -> None:
    problem = world.problem(epochs=5)
    train = problem.split.train
    labelled = Labelled(train, problem.graph.labels[train], 3)
    targets = Targets(train, labelled.labels, np.ones(train.size), train.size)
    trainings: list[Trained] = []

    def train_once(loss: NodeLoss) -> Trained:
        trainings.append(Network().train(problem, targets, loss, (0, 1, 0, len(trainings)), None))
        return trainings[-1]

    made = part(train_once, labelled, Teacher(np.zeros((problem.graph.num_nodes, 3)), before))
    assert made.trainings == tuple(trainings)
    assert made.student is trainings[-1]
    if made.transition is not None:
        assert made.transition.shape == (3, 3)
        assert np.isfinite(made.transition).all()
    if before is not None:
        np.testing.assert_array_equal(before, 1 / 3)
