"""StageTrainer: trains the teacher and the students of a run and records each stage."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from drgst.errors import TrainingError
from drgst.nn.losses import NodeLoss, cross_entropy
from drgst.nn.random import generator
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.checks import check_requirements
from drgst.selftrain.history import History, Stage
from drgst.selftrain.learners.base import Trained
from drgst.selftrain.predict import CALIBRATION, prefixed
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.correct import Corrected, Labelled, Teacher
from drgst.selftrain.slots.weigh import Weights

GAIN = 1_000_003  # sets the generator of the gain apart from those of the trainings


@dataclass(frozen=True, eq=False)
class TrainedOn:
    """The pseudo-labels that a student is trained on, with their weights, and gain and confidence by its teacher."""

    pseudo_labels: PseudoLabels
    weights: np.ndarray
    gain: np.ndarray
    confidence: np.ndarray


NO_PSEUDO_LABELS = TrainedOn(PseudoLabels.empty(), np.empty(0), np.empty(0, dtype=np.float32), np.empty(0))


class StageTrainer:
    """Trains the networks of one run. Stage k, attempt a, training i draw from the generator (seed, k, a, i)."""

    def __init__(self, problem: Problem, recipe: Recipe, callback: Callback) -> None:
        check_requirements(recipe, problem)
        self.problem, self.recipe, self.callback = problem, recipe, callback
        train = problem.split.train
        self.labelled = Labelled(train, problem.graph.labels[train], problem.graph.num_classes)
        self.retries = problem.settings.retries if "retries" in recipe.reads else 0

    def teacher(self) -> Stage:
        """f_θ trained on V_L alone (line 1), afresh while it collapses and retries are left."""
        began = time.perf_counter()
        nodes, labels = self.labelled.nodes, self.labelled.labels
        targets = Targets(nodes, labels, self.problem.true_weights, nodes.size)
        for attempt in range(self.retries + 1):
            self.callback.training(0, attempt, 0)
            trained = self._train(targets, cross_entropy, (0, attempt, 0))
            fault = self._fault(trained)
            if not fault:
                break
        stage = self._record(0, NO_PSEUDO_LABELS, Corrected(trained, (trained,)), began)
        return replace(stage, note=fault or trained.note)

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
        data = TrainedOn(pseudo, weights.pseudo, beliefs.gain[pseudo.nodes], beliefs.confidence[pseudo.nodes])
        if corrected is None:  # the predictions of its teacher stay
            kept, seconds = history.accepted[-1], time.perf_counter() - began
            return replace(kept, number=number, seconds=seconds, accepted=False, note=fault, trainings=(), **vars(data))
        stage = self._record(number, data, corrected, began)
        if not fault:
            return stage
        note = f"the student of stage {number} collapsed ({fault}); its teacher was kept"
        return replace(stage, accepted=False, note=note)

    def _attempts(self, targets: Targets, number: int, teacher: Teacher) -> tuple[Corrected | None, str]:
        """A student, or None where its training failed, and its fault, or ""; afresh while retries are left."""
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
        """Why a network counts as collapsed, or ""."""
        if self.problem.split.val.size and trained.training.collapsed:
            return "its validation loss never fell below its first value"
        predicted = trained.logits.argmax(axis=1)
        if (predicted == predicted[0]).all():
            return "it gives every node the same class"
        return ""

    def _record(self, number: int, data: TrainedOn, corrected: Corrected, began: float) -> Stage:
        student = corrected.student
        gain = student.gain(generator(self.problem.seed, number, 0, GAIN), "gain" in self.recipe.requires)
        learnt, calibrated = self._calibrate(student.logits, number)
        return Stage(
            number=number,
            **vars(data),
            transition=corrected.transition,
            trainings=tuple(t.training for t in corrected.trainings),
            seconds=time.perf_counter() - began,
            calibrated=calibrated,
            selection_logits=student.selection_logits,
            accepted=True,
            note="",
            logits=student.logits,
            all_gain=gain,
            embedding=student.embedding,
            state={**student.state, **learnt},
        )

    def _calibrate(self, logits: np.ndarray, number: int) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
        """What the calibrator learnt, and the logits it gives (None where it learnt nothing)."""
        part = self.recipe.calibrate
        learnt = part.fit(logits, self.problem, number)
        if learnt is None:
            return {}, None
        return prefixed(CALIBRATION, learnt), part.apply(
            learnt, logits, self.problem.graph, self.problem.settings.device
        )
