"""Stop: each part alone on made-up histories, and the reasons it gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History
from drgst.selftrain.stop.parts import Agreement, MaxStages, NoNewLabels, ValidationPlateau

SOME = PseudoLabels.of(np.array([40, 41, 42, 43]), np.array([0, 1, 2, 0]))


def with_losses(history: History, losses: list[float]) -> History:
    """As many stages as losses, each with that validation loss."""
    stages = []
    for number, loss in enumerate(losses):
        training = replace(history[0].trainings[0], val_loss=loss)
        stages.append(replace(history[0], number=number, trainings=(training,), pseudo=SOME))
    return History(tuple(stages))


def test_max_stages(history) -> None:
    """The teacher is not a stage of its own."""
    three = with_losses(history, [1.0, 1.0, 1.0])
    assert MaxStages(2)(three, SOME) == "all 2 stages are done"
    assert MaxStages(3)(three, SOME) is None
    assert MaxStages(0)(with_losses(history, [1.0]), SOME) == "all 0 stages are done"


def test_no_labels(history) -> None:
    assert NoNewLabels()(history, SOME) is None
    assert NoNewLabels()(history, PseudoLabels.empty()) == "no unlabelled node is trusted"


def test_agreement(history) -> None:
    two = with_losses(history, [1.0, 1.0])
    changed = PseudoLabels.of(SOME.nodes, np.array([1, 1, 2, 0]))
    assert "did not change" in Agreement()(two, SOME)
    assert Agreement()(two, changed) is None
    assert "75.0%" in Agreement(0.75)(two, changed)
    assert Agreement(0.76)(two, changed) is None
    assert Agreement()(with_losses(history, [1.0]), SOME) is None, "the teacher had no trusted set"


@pytest.mark.parametrize(
    ("losses", "ends"),
    [([3, 2, 1], False), ([1, 2], False), ([1, 2, 3], True), ([3, 1, 2, 2], True), ([3, 1, 2, 0.5], False)],
)
def test_validation_plateau(history, losses: list[float], ends: bool) -> None:
    reason = ValidationPlateau(2)(with_losses(history, losses), SOME)
    assert (reason is not None) == ends


def test_validation_plateau_without_validation_never_ends(history) -> None:
    """A loss that is not known can't be said not to have fallen."""
    assert ValidationPlateau(1)(with_losses(history, [float("nan")] * 4), SOME) is None
