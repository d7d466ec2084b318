"""Several recipes from one teacher."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drgst.errors import SettingError
from drgst.selftrain.best_of import BestOf
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History, result_stage
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.select import Threshold, TopPerClass
from drgst.selftrain.slots.stop import MaxStages, NoNewLabels


def best_of(*select: Any) -> BestOf:
    return BestOf(tuple(Recipe(select=part, stop=(NoNewLabels(),)) for part in select))


def test_every_student_has_the_first_teacher(world: Any) -> None:
    """Stage k is what recipe k gives as its first stage, but for the seed of its training."""
    problem = world.problem()
    parts = (TopPerClass(3), Threshold(0.4))
    history = self_train(problem, best_of(*parts))
    assert len(history) == 3
    assert history.stop_reason == "all 2 alternatives are done"
    for stage, part in zip(history.stages[1:], parts, strict=True):
        alone = self_train(problem, Recipe(select=part, stop=(MaxStages(1),)))
        np.testing.assert_array_equal(stage.pseudo_labels.nodes, alone[1].pseudo_labels.nodes)
        np.testing.assert_array_equal(history[0].logits, alone[0].logits)


def test_no_pseudo_labels_end_it(world: Any) -> None:
    history = self_train(world.problem(), best_of(TopPerClass(3), Threshold(0.9999), Threshold(0.4)))
    assert len(history) == 2
    assert history.stop_reason == "no unlabelled node is pseudo-labelled"


def test_it_needs_validation_nodes(world: Any) -> None:
    problem = world.problem()
    bare = replace(problem, split=problem.split.without_validation())
    with pytest.raises(SettingError, match="validation nodes, and there are none"):
        self_train(bare, best_of(TopPerClass(3)))


def test_sts_keeps_the_best_student(world: Any) -> None:
    """Four students of one teacher; the result has the highest validation accuracy among them."""
    history = world.run("sts", top=3)
    assert history.stop_reason in ("all 4 alternatives are done", "no unlabelled node is pseudo-labelled")
    assert len(history) >= 4
    best = result_stage(history, "best-student")
    assert best.number >= 1
    assert best.val_accuracy == max(s.val_accuracy for s in history.accepted[1:])


@pytest.mark.parametrize("done", [1, 3])
def test_sts_can_be_resumed(world: Any, same: Callable[[History, History], None], done: int) -> None:
    """Alternatives depend on the first teacher and their own number alone."""
    whole = world.run("sts", top=3)
    same(whole, world.run("sts", top=3, history=History(whole.stages[:done])))


def test_the_best_of_nothing_is_refused() -> None:
    with pytest.raises(SettingError, match="needs at least one"):
        BestOf(())
