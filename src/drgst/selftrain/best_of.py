"""Several recipes from one teacher, of which validation keeps the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drgst.errors import SettingError
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.engine import train_student, train_teacher
from drgst.selftrain.history import History
from drgst.selftrain.learners.base import Learner
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.calibrate import Calibrate
from drgst.selftrain.slots.postprocess import Postprocess
from drgst.selftrain.trainer import StageTrainer


@dataclass(frozen=True)
class BestOf:
    """The teacher of the first recipe, then one student of each recipe from that teacher: stage k is recipe k.

    The result is the stage of highest validation accuracy (``keep=best-student``). The recipes share the learner, the
    calibration and the postprocessing of the first. A recipe that pseudo-labels no node ends the run.
    """

    recipes: tuple[Recipe, ...]

    def __post_init__(self) -> None:
        if not self.recipes:
            raise SettingError("the best of several recipes needs at least one")

    def run(self, problem: Problem, callback: Callback, history: History) -> History:
        """One stage for each recipe that ``history`` does not have."""
        if not problem.split.val.size:
            raise SettingError(
                "choosing the best of several recipes needs validation nodes, and there are "
                "none: run one of them by name, or add validation nodes to the split"
            )
        trainers = [StageTrainer(problem, recipe, callback) for recipe in self.recipes]
        history = history if len(history) else train_teacher(trainers[0])
        for trainer in trainers[len(history) - 1 :]:
            history = train_student(trainer, history[0], history)
            if history.stop_reason:
                return history
        return history.ended(f"all {len(self.recipes)} alternatives are done")

    @property
    def learner(self) -> Learner:
        return self.recipes[0].learner

    @property
    def calibrate(self) -> Calibrate:
        return self.recipes[0].calibrate

    @property
    def postprocess(self) -> tuple[Postprocess, ...]:
        return self.recipes[0].postprocess

    @property
    def requires(self) -> frozenset[str]:
        return frozenset({"validation"}).union(*(recipe.requires for recipe in self.recipes))

    @property
    def reads(self) -> frozenset[str]:
        return frozenset().union(*(recipe.reads for recipe in self.recipes))

    def with_parts(self, **parts: Any) -> BestOf:
        return BestOf(tuple(recipe.with_parts(**parts) for recipe in self.recipes))

    def parts(self) -> dict[str, str]:
        """Slot -> part, in words; the parts of a slot in which the recipes differ stand side by side."""
        each = [recipe.parts() for recipe in self.recipes]
        return {slot: " | ".join(dict.fromkeys(parts[slot] for parts in each)) for slot in each[0]}
