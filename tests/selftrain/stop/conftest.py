"""Made-up histories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History


@pytest.fixture
def some() -> PseudoLabels:
    """Four pseudo-labels."""
    return PseudoLabels.of(np.array([40, 41, 42, 43]), np.array([0, 1, 2, 0]))


@pytest.fixture
def with_losses(history: History, some: PseudoLabels) -> Callable[[list[float]], History]:
    """As many stages as losses, each with that validation loss and the same pseudo-labels."""

    def make(losses: list[float]) -> History:
        trainings = [replace(history[0].trainings[0], val_loss=loss) for loss in losses]
        stages = [replace(history[0], number=k, trainings=(t,), pseudo_labels=some) for k, t in enumerate(trainings)]
        return History(tuple(stages))

    return make
