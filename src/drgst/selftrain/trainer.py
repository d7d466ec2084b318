"""StageTrainer: trains the teacher and the students of a run and records each stage."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from drgst.errors import TrainingError
from drgst.nn.losses import NodeLoss, cross_entropy
from drgst.nn.random import generator
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.checks import check_requirements
from drgst.selftrain.history import History, Stage
from drgst.selftrain.learners.base import Trained
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.recipe import CALIBRATION, Recipe, prefixed
from drgst.selftrain.slots.correct import Corrected, Labelled, Teacher
from drgst.selftrain.slots.weigh import Weights

GAIN = 1_000_003  # sets the generator of the gain apart from those of the trainings


class StageTrainer:
    """Trains the networks of one run. Stage k, attempt a, training i draw from the generator (seed, k, a, i)."""

    def __init__(self, problem: Problem, recipe: Recipe, callback: Callback) -> None:
        check_requirements(recipe, problem)
        self.problem, self.recipe, self.callback = problem, recipe, callback
        train = problem.split.train
        self.labelled = Labelled(train, problem.graph.labels[train], problem.graph.num_classes)
        self.retries = problem.settings.retries if "retries" in recipe.reads else 0

    def teacher(self) -> Stage:
        """f_θ trained on V_L alone (line 1), trained afresh while it collapses and retries are left."""
        began = time.perf_counter()
        nodes, labels = self.labelled.nodes, self.labelled.labels
        targets = Targets(nodes, labels, self.problem.true_weights, nodes.size)
        for attempt in range(self.retries + 1):
            self.callback.training(0, attempt, 0)
            trained = self._train(targets, cross_entropy, (0, attempt, 0))
            fault = self._fault(trained)
            if not fault:
                break
        none = np.empty(0)
        on = {"pseudo_labels": PseudoLabels.empty(), "weights": none, "gain": none.astype("f4"), "confidence": none}
        return self._record(0, on, Corrected(trained, (trained,)), began, fault or trained.note)

    def student(self, beliefs: Beliefs, pseudo: PseudoLabels, weights: Weights, history: History) -> Stage:
        """f_θ* of one stage (lines 6 to 8); not accepted if it collapsed or failed in every attempt."""
        began, number = time.perf_counter(), len(history)
        targets = Targets(
            np.concatenate([self.labelled.nodes, pseudo.nodes]),
            np.concatenate([self.labelled.labels, pseudo.labels]),
            np.concatenate([weights.true * self.problem.true_weights, weights.pseudo]),
            self.labelled.nodes.size,
        )
        corrected, fault = self._attempts(targets, number, Teacher(history[-1].logits, history[-1].transition))
        gain, confidence = beliefs.gain[pseudo.nodes], beliefs.confidence_of(pseudo.nodes)
        on = {"pseudo_labels": pseudo, "weights": weights.pseudo, "gain": gain, "confidence": confidence}
        if corrected is None:  # the predictions of its teacher stay
            kept, seconds = history.accepted[-1], time.perf_counter() - began
            return replace(kept, number=number, seconds=seconds, accepted=False, note=fault, trainings=(), **on)
        note = fault and f"the student of stage {number} collapsed ({fault}); its teacher was kept"
        return replace(self._record(number, on, corrected, began, note), accepted=not fault)

    def _attempts(self, targets: Targets, number: int, teacher: Teacher) -> tuple[Corrected | None, str]:
        """A student (None where its training failed) and its fault, if any; trained afresh while retries are left."""
        retries = self.retries if self.problem.settings.on_collapse == "retry" else 0
        for attempt in range(1 + retries):
            self.callback.training(number, attempt, targets.nodes.size - targets.true)
            corrected, fault = self._attempt(targets, (number, attempt), teacher)
            if not fault:
                break
        return corrected, fault

    def _attempt(self, targets: Targets, place: tuple[int, int], teacher: Teacher) -> tuple[Corrected | None, str]:
        count = iter(range(1_000))
        try:
            corrected = self.recipe.correct(
                lambda loss: self._train(targets, loss, (*place, next(count))), self.labelled, teacher
            )
        except TrainingError as error:
            return None, f"stage {place[0]} failed: {error}"
        return corrected, self._fault(corrected.student)

    def _train(self, targets: Targets, loss: NodeLoss, place: tuple[int, int, int]) -> Trained:
        seed = (self.problem.seed, *place)
        return self.recipe.learner.train(self.problem, targets, loss, seed, self.callback.epoch)

    def _fault(self, trained: Trained) -> str:
        """Why a network counts as collapsed; "" if it does not."""
        if self.problem.split.val.size and trained.training.collapsed:
            return "its validation loss never fell below its first value"
        first = trained.logits[0].argmax()
        if all((trained.logits[:most].argmax(axis=1) == first).all() for most in (1_000, None)):
            return "it gives every node the same class"
        return ""

    def _record(self, number: int, on: dict[str, Any], corrected: Corrected, began: float, note: str) -> Stage:
        """The stage of a student and its calibration; ``on``: what it was trained on, by its teacher."""
        student, part, problem = corrected.student, self.recipe.calibrate, self.problem
        gain = student.gain(generator(problem.seed, number, 0, GAIN), "gain" in self.recipe.requires)
        learnt, calibrated = part.fit(student.logits, problem, number), None
        if learnt is not None:
            calibrated = part.apply(learnt, student.logits, problem.graph, problem.settings.device)
        return Stage(
            number=number,
            **on,
            transition=corrected.transition,
            trainings=tuple(t.training for t in corrected.trainings),
            seconds=time.perf_counter() - began,
            calibrated=calibrated,
            selection_logits=student.selection_logits,
            accepted=True,
            note=note,
            logits=student.logits,
            all_gain=gain,
            embedding=student.embedding,
            state={**student.state, **prefixed(CALIBRATION, learnt or {})},
        )
