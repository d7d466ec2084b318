"""A training that parts may call, and the true labels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from drgst.selftrain.correct.base import Labelled
from drgst.selftrain.learners.network import Network
from drgst.selftrain.problem import Targets


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
