"""Students that collapse or fail: they never replace their teacher, and the run says so."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import torch

from drgst.errors import TrainingError
from drgst.nn.inputs import NOTES
from drgst.nn.losses import WeightedLoss
from drgst.recipes import find_recipe
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History, result_stage
from drgst.selftrain.learners.network import Network, weighted_loss
from drgst.selftrain.slots.postprocess import Adjusted


@dataclass
class Log(Callback):
    """Notes which trainings began."""

    begun: list[tuple[int, int]] = field(default_factory=list)

    def training(self, stage: int, attempt: int, pseudo_labelled: int) -> None:
        self.begun.append((stage, attempt))


class Stuck(WeightedLoss):
    """Teaches nothing: every gradient is zero, so without weight decay the validation loss stays what it was."""

    def __call__(self, logits: torch.Tensor, epoch: int) -> torch.Tensor:
        return 0 * super().__call__(logits, epoch)


class OneClass(WeightedLoss):
    """Learns that everything is class 0."""

    def __call__(self, logits: torch.Tensor, epoch: int) -> torch.Tensor:
        return -20 * logits.log_softmax(dim=1)[:, 0].mean()


class Poisoned(WeightedLoss):
    """Is not a number from epoch 5 on."""

    def __call__(self, logits: torch.Tensor, epoch: int) -> torch.Tensor:
        loss = super().__call__(logits, epoch)
        return loss * float("nan") if epoch == 5 else loss


def spoilt(kind: type[WeightedLoss], trainings: int | None = None, teacher: bool = False) -> Any:
    """Objectives of ``kind`` for so many trainings of students (None: for all), the usual one for the others."""
    left = [trainings if trainings is not None else 10**6]

    def make(problem, targets, loss):  # type: ignore[no-untyped-def]
        student = targets.nodes.size > targets.true
        if (student or teacher) and left[0] > 0:
            left[0] -= 1
            return kind(targets.nodes, targets.labels, targets.weights, loss)
        return weighted_loss(problem, targets, loss)

    return make


def run(world, objective, name: str = "drgst-de", **changes) -> tuple[History, Log]:  # type: ignore[no-untyped-def]
    problem, log = world.problem(name, weight_decay=0.0, **changes), Log()
    recipe = replace(find_recipe(name).make(problem.settings), learner=Network(objective=objective))
    return self_train(problem, recipe, log), log


@pytest.mark.parametrize("kind", [Stuck, OneClass])
def test_a_collapsed_student_does_not_replace_its_teacher(world, kind) -> None:
    done, _ = run(world, spoilt(kind))
    assert [s.accepted for s in done.stages] == [True, False]
    assert done.stop_reason == done[1].note
    assert "the student of stage 1 collapsed" in done.stop_reason
    assert "its teacher was kept" in done.stop_reason
    assert result_stage(done, "last") is done[0]
    assert (done.entered(60, world.split.train)[world.split.pool] == -1).all()


def test_the_reason_names_what_was_wrong(worlds) -> None:
    """One class everywhere, told apart from a validation loss that never fell."""
    world = worlds()
    alone = replace(world, split=world.split.without_validation())
    done, _ = run(alone, spoilt(OneClass), fixed_epochs=30)
    assert "it gives every node the same class" in done.stop_reason
    done, _ = run(world, spoilt(Stuck))
    assert "validation loss never fell below its first value" in done.stop_reason


@pytest.mark.parametrize(("on_collapse", "attempts"), [("retry", 3), ("stop", 1)])
def test_retry_or_stop(world, on_collapse: str, attempts: int) -> None:
    _, log = run(world, spoilt(Stuck), "drgst-de-ig", on_collapse=on_collapse, retries=2)
    assert log.begun == [(0, 0), *((1, k) for k in range(attempts))]


def test_a_fresh_start_that_learns_is_accepted(world) -> None:
    """The first try collapses, the second is a fresh start with other weights; the run goes on to its end."""
    done, log = run(world, spoilt(Stuck, trainings=2), on_collapse="retry", retries=2)
    assert all(s.accepted for s in done.stages)
    assert done[1].note == ""
    assert log.begun == [(0, 0), (1, 0), (1, 1), (2, 0)]
    assert (done[1].logits != world.run(weight_decay=0.0)[1].logits).any()


@pytest.mark.parametrize("on_collapse", ["retry", "stop"])
def test_a_student_that_breaks_off_is_named_with_its_epoch(world, on_collapse: str) -> None:
    """NaN at epoch 5: the stage says so, the teacher's beliefs stand."""
    done, log = run(world, spoilt(Poisoned), on_collapse=on_collapse)
    assert "stage 1 failed" in done.stop_reason
    assert "training loss became nan at epoch 5" in done.stop_reason
    assert not done[1].accepted
    np.testing.assert_array_equal(done[1].logits, done[0].logits)
    assert len(log.begun) == (4 if on_collapse == "retry" else 2)
    assert result_stage(done, "best") is done[0]


def test_a_break_is_tried_again(world) -> None:
    done, _ = run(world, spoilt(Poisoned, trainings=1))
    assert all(s.accepted for s in done.stages)


def test_a_teacher_that_breaks_off_is_an_error(world) -> None:
    """There is no earlier state to fall back on."""
    with pytest.raises(TrainingError, match=r"training loss became nan at epoch 5; try a lower learning rate"):
        run(world, spoilt(Poisoned, teacher=True))


def test_a_teacher_that_collapses_is_kept_with_a_note(world) -> None:
    """It is all there is; the first stage says what is wrong with it."""
    done, log = run(world, spoilt(Stuck, teacher=True), retries=1, stages=0)
    assert "never fell" in done[0].note
    assert done[0].accepted
    assert log.begun == [(0, 0), (0, 1)]


def test_a_run_that_ended_in_collapse_stays_ended(world, same) -> None:
    """Resumed from its own stages it trains nothing and gives the same reason."""
    done, _ = run(world, spoilt(Stuck))
    problem, log = world.problem(weight_decay=0.0), Log()
    recipe = find_recipe("drgst-de").make(problem.settings)
    same(self_train(problem, recipe, log, History(done.stages)), done)
    assert log.begun == []


@pytest.mark.parametrize("teacher", [False, True])
def test_what_a_postprocess_part_describes_stands_in_no_reason_to_stop(world, teacher: bool) -> None:
    """It stands in the note of the result alone, after what was wrong with its network."""
    problem = world.problem(retries=0, weight_decay=0.0)

    def halved(logits, context):  # type: ignore[no-untyped-def]
        return Adjusted(logits / 2, note="Halved.")

    learner = Network(objective=spoilt(Stuck, teacher=teacher))
    recipe = replace(find_recipe("drgst-de").make(problem.settings), learner=learner, postprocess=(halved,))
    done = self_train(problem, recipe)
    np.testing.assert_allclose(done[0].final_logits, done[0].logits / 2)
    first = "its validation loss never fell below its first value" if teacher else NOTES["l2"]
    assert done[0].note == f"{first}. Halved."
    assert not any("Halved" in text for text in (done.stop_reason, done[-1].note if len(done) > 1 else ""))


def test_students_weigh_true_labels_as_their_teacher_does(world) -> None:
    """Weights of the user count in every stage."""
    given = []

    def noted(problem, targets, loss):  # type: ignore[no-untyped-def]
        given.append(targets.weights[: targets.true])
        return weighted_loss(problem, targets, loss)

    problem = replace(world.problem(), sample_weight=1.0 + np.arange(60))
    self_train(problem, replace(find_recipe("drgst-de").make(problem.settings), learner=Network(objective=noted)))
    assert len(given) > 1
    assert np.ptp(given[0]) > 0
    for weights in given[1:]:
        np.testing.assert_allclose(weights / weights.mean(), given[0] / given[0].mean())
