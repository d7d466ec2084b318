"""The loop: Algorithm 1 of the paper, with its steps as exchangeable parts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drgst.backbone.objective import NodeLoss, cross_entropy
from drgst.backbone.random import generator
from drgst.errors import SettingError, TrainingError
from drgst.selftrain.beliefs import Beliefs, Chosen
from drgst.selftrain.correct import Corrected, Labelled
from drgst.selftrain.history import History, Stage
from drgst.selftrain.learner import Problem, Targets, Trained
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.weigh import Weights


class Observer:
    """Told what happens; does nothing by itself."""

    def training(self, stage: int, attempt: int, trusted: int) -> None:
        """A training begins."""

    def epoch(self, epoch: int, train_loss: float, val_loss: float) -> None:
        """An epoch is done."""

    def stage(self, history: History) -> None:
        """A stage is done: the last of ``history``."""


def self_train(
    problem: Problem, recipe: Recipe, observer: Observer | None = None, history: History | None = None
) -> History:
    """Train a teacher on V_L, then stage by stage a student on V_L ∪ S_U that replaces it, until a part says stop.

    ``history`` goes on from the stages of an interrupted run and ends with the same bits: everything random in
    stage k is drawn from a generator seeded with (seed, k, …), nothing is carried but the stages themselves.
    """
    watcher = observer or Observer()
    loop = _Loop(problem, recipe, watcher)
    history = history or History()
    if not len(history):
        history = history.with_stage(loop.teacher())
        watcher.stage(history)
    while True:
        beliefs = loop.look(history)
        chosen = loop.choose(beliefs, history)
        reason = loop.reason(history, chosen)
        if reason is not None:
            return history.ended(reason)
        history = history.with_stage(loop.stage(beliefs, chosen, history))
        watcher.stage(history)
        if not history[-1].accepted:
            return history.ended(history[-1].note)


def result_stage(history: History, keep: str) -> Stage:
    """The stage whose network is the result: the last accepted one, or the accepted one of lowest validation loss."""
    accepted = history.accepted
    if keep == "last" or np.isnan(accepted[0].val_loss):
        return accepted[-1]
    return min(accepted, key=lambda s: s.val_loss)


@dataclass
class _Loop:
    problem: Problem
    recipe: Recipe
    observer: Observer

    def teacher(self) -> Stage:
        """Line 1: a network trained on V_L."""
        began = time.perf_counter()
        split = self.problem.split
        targets = Targets(split.train, self._true_labels(), np.ones(split.train.size), split.train.size)
        for attempt in range(self.problem.settings.retries + 1):
            self.observer.training(0, attempt, 0)
            trained = self._train(targets, cross_entropy, (0, attempt, 0))
            if self._collapsed(trained) is None:
                break
        empty = np.empty(0)
        corrected = Corrected(trained, (trained,), None)
        note = self._collapsed(trained) or ""
        return self._stage(0, Chosen.nothing(), (empty, empty, empty), corrected, began, True, note)

    def look(self, history: History) -> Beliefs:
        """What the current teacher believes."""
        stage = history.accepted[-1]
        return Beliefs(
            stage.logits,
            self.problem.graph,
            self.problem.split,
            stage.number,
            stage.embedding,
            lambda: stage.all_gain,
            self.problem.seed,
        )

    def choose(self, beliefs: Beliefs, history: History) -> Chosen:
        """Lines 3 and 4: S_U and its pseudo-labels, from the pool and nowhere else."""
        chosen = self.recipe.select(beliefs)
        if self.recipe.carry:
            chosen = history.accepted[-1].chosen.joined(chosen)
        outside = np.setdiff1d(chosen.nodes, self.problem.split.pool)
        if outside.size:
            raise SettingError(f"the select part chose node {outside[0]}, which is not in the pool")
        return chosen

    def reason(self, history: History, chosen: Chosen) -> str | None:
        """The first reason to end before another stage, or None."""
        reasons = (stop(history, chosen) for stop in self.recipe.stop)
        return next((r for r in reasons if r is not None), None)

    def stage(self, beliefs: Beliefs, chosen: Chosen, history: History) -> Stage:
        """Lines 5 to 9: weigh, train, correct, and replace the teacher unless the student collapsed."""
        began = time.perf_counter()
        number = len(history)
        weights = self.recipe.weigh(beliefs, chosen)
        targets = self._targets(chosen, weights)
        before = history[-1].transition
        tries = self.problem.settings.retries + 1 if self.problem.settings.on_collapse == "retry" else 1
        note = ""
        corrected: Corrected | None = None
        for attempt in range(tries):
            self.observer.training(number, attempt, chosen.nodes.size)
            try:
                corrected = self._student(targets, number, attempt, before)
            except TrainingError as error:
                note = f"stage {number} failed: {error}"
                continue
            note = self._collapsed(corrected.student) or ""
            if not note:
                break
            note = f"the student of stage {number} collapsed ({note}); its teacher was kept"
        seen = (weights.chosen, beliefs.gain[chosen.nodes], beliefs.confidence[chosen.nodes])
        if corrected is None:
            return self._failed(number, chosen, seen, began, note, history)
        return self._stage(number, chosen, seen, corrected, began, not note, note)

    def _student(self, targets: Targets, number: int, attempt: int, before: np.ndarray | None) -> Corrected:
        labelled = Labelled(self.problem.split.train, self._true_labels(), self.problem.graph.num_classes)
        return self.recipe.correct(self._trainer(targets, number, attempt), labelled, before)

    def _trainer(self, targets: Targets, number: int, attempt: int) -> Callable[[NodeLoss], Trained]:
        count = iter(range(1_000))
        return lambda loss: self._train(targets, loss, (number, attempt, next(count)))

    def _train(self, targets: Targets, loss: NodeLoss, place: tuple[int, int, int]) -> Trained:
        seed = (self.problem.seed, 0, place[1], 0) if self.recipe.same_start else (self.problem.seed, *place)
        return self.recipe.learner.train(self.problem, targets, loss, seed, self.observer.epoch)

    def _targets(self, chosen: Chosen, weights: Weights) -> Targets:
        train = self.problem.split.train
        return Targets(
            np.concatenate([train, chosen.nodes]),
            np.concatenate([self._true_labels(), chosen.labels]),
            np.concatenate([weights.true, weights.chosen]),
            train.size,
        )

    def _true_labels(self) -> np.ndarray:
        return self.problem.graph.labels[self.problem.split.train]

    def _collapsed(self, trained: Trained) -> str | None:
        """Why a network counts as collapsed, or None."""
        if self.problem.split.val.size and trained.training.never_learnt:
            return "its validation loss never fell below its first value"
        if np.unique(trained.logits.argmax(axis=1)).size == 1:
            return "it gives every node the same class"
        return None

    def _stage(
        self,
        number: int,
        chosen: Chosen,
        seen: tuple[np.ndarray, np.ndarray, np.ndarray],
        corrected: Corrected,
        began: float,
        accepted: bool,
        note: str,
    ) -> Stage:
        student = corrected.student
        gain = student.gain(generator(self.problem.seed, number, 0, 1_000_003), self.recipe.uses_gain)
        trainings = tuple(t.training for t in corrected.trainings)
        return Stage(
            number,
            chosen,
            *seen,
            corrected.transition,
            trainings,
            time.perf_counter() - began,
            accepted,
            note,
            student.logits,
            gain,
            student.embedding,
            student.state,
        )

    def _failed(
        self,
        number: int,
        chosen: Chosen,
        seen: tuple[np.ndarray, np.ndarray, np.ndarray],
        began: float,
        note: str,
        history: History,
    ) -> Stage:
        """A stage whose training broke off: the teacher's beliefs stand."""
        kept = history.accepted[-1]
        seconds = time.perf_counter() - began
        return Stage(
            number,
            chosen,
            *seen,
            None,
            kept.trainings,
            seconds,
            False,
            note,
            kept.logits,
            kept.all_gain,
            kept.embedding,
            kept.state,
        )
