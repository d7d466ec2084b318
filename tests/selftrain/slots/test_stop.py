"""When a run ends, and the reason that is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History
from drgst.selftrain.slots.stop import Agreement, MaxStages, NoNewLabels, ValidationPlateau


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


def test_the_number_of_stages(with_losses, some) -> None:
    three = with_losses([1.0, 1.0, 1.0])
    assert MaxStages(2)(three, some) == "all 2 stages are done"
    assert MaxStages(3)(three, some) is None
    assert MaxStages(0)(with_losses([1.0]), some) == "all 0 stages are done"


def test_no_pseudo_labels(history, some) -> None:
    assert NoNewLabels()(history, some) is None
    assert NoNewLabels()(history, PseudoLabels.empty()) == "no unlabelled node is pseudo-labelled"
    assert NoNewLabels("as it should be")(history, PseudoLabels.empty()) == "as it should be"


def test_agreement(with_losses, some) -> None:
    two = with_losses([1.0, 1.0])
    changed = PseudoLabels.of(some.nodes, np.array([1, 1, 2, 0]))
    assert Agreement()(two, some) == "converged: the pseudo-labels did not change"
    assert Agreement()(two, changed) is None
    assert Agreement(0.75)(two, changed) == "converged: 75.0% of the pseudo-labels did not change"
    assert Agreement(0.76)(two, changed) is None
    assert Agreement()(with_losses([1.0]), some) is None, "the teacher had no pseudo-labels"


@pytest.mark.parametrize(
    ("losses", "ends"),
    [([3, 2, 1], False), ([1, 2], False), ([1, 2, 3], True), ([3, 1, 2, 2], True), ([3, 1, 2, 0.5], False)],
)
def test_validation_plateau(with_losses, some, losses: list[float], ends: bool) -> None:
    reason = ValidationPlateau(2)(with_losses(losses), some)
    assert (reason is not None) == ends


def test_validation_plateau_without_validation_never_ends(with_losses, some) -> None:
    """A loss that is not known can't be said not to have fallen."""
    assert ValidationPlateau(1)(with_losses([float("nan")] * 4), some) is None
