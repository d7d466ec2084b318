"""History: who entered when, what a stage tells, and that it is never changed in place."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History, result_stage


def stages(history: History, *sets: list[int], accepted: tuple[bool, ...] | None = None) -> History:
    """A history whose stages pseudo-labelled these nodes."""
    ok = accepted or (True,) * len(sets)
    made = [
        replace(history[0], number=k, pseudo_labels=PseudoLabels.of(np.array(s, int), np.zeros(len(s))), accepted=a)
        for k, (s, a) in enumerate(zip(sets, ok, strict=True))
    ]
    return History(tuple(made))


def test_entered_is_the_first_stage(history) -> None:
    """Stage of the first pseudo-label; 0 for true labels, -1 for never."""
    entered = stages(history, [], [5, 6], [6, 7]).entered(9, np.array([0, 1]))
    np.testing.assert_array_equal(entered, [0, 0, -1, -1, -1, 1, 1, 2, -1])


def test_a_stage_that_was_not_accepted_lets_nobody_in(history) -> None:
    entered = stages(history, [], [5], [6], accepted=(True, True, False)).entered(8, np.array([0]))
    np.testing.assert_array_equal(entered, [0, -1, -1, -1, -1, 1, -1, -1])


def test_with_stage_and_ended_make_copies(history) -> None:
    longer = history.with_stage(history[1])
    assert len(longer) == len(history) + 1
    assert longer.seconds == pytest.approx(history.seconds + history[1].seconds)
    assert history.ended("enough").stop_reason == "enough"
    assert history.stop_reason != "enough"
    with pytest.raises(FrozenInstanceError):
        history.stop_reason = "x"


def test_summary_is_plain_json_without_hidden_labels(history) -> None:
    for stage in history.stages:
        told = json.loads(json.dumps(stage.summary(), allow_nan=False))
        assert told["pseudo_labelled"] == stage.pseudo_labels.nodes.size
        assert told["epochs"] == sum(t.epochs for t in stage.trainings)
    first = history[0].summary()
    assert (first["pseudo_labelled"], first["mean_gain"], first["mean_weight"]) == (0, None, None)


def test_summary_without_validation_has_none_not_nan(worlds) -> None:
    world = worlds()
    alone = type(world)(world.graph, world.split.without_validation())
    told = alone.run(stages=1, fixed_epochs=10)[-1].summary()
    assert told["val_loss"] is None
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize(
    ("losses", "best", "student"),
    [([0.5, 0.7, 0.6], 0, 2), ([0.9, 0.4, 0.6], 1, 1), ([0.9, 0.6, 0.6], 1, 1), ([0.5], 0, 0)],
)
def test_the_best_may_be_the_teacher_but_the_best_student_is_not(
    history: History, losses: list[float], best: int, student: int
) -> None:
    """By validation loss; of students of equal accuracy that of lower loss, of equal ones the first."""
    stages = [
        replace(history[0], number=k, trainings=(replace(history[0].trainings[0], val_loss=loss, val_accuracy=0.8),))
        for k, loss in enumerate(losses)
    ]
    made = History(tuple(stages))
    assert result_stage(made, "best").number == best
    assert result_stage(made, "best-student").number == student
    assert result_stage(made, "last").number == len(losses) - 1


def test_without_validation_the_last_is_the_result(history: History) -> None:
    blind = tuple(
        replace(history[0], number=k, trainings=(replace(history[0].trainings[0], val_loss=float("nan")),))
        for k in range(3)
    )
    for keep in ("last", "best", "best-student"):
        assert result_stage(History(blind), keep).number == 2
