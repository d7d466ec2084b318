"""The hands of the engine: targets, trainings, the look at a student, and the record of a stage."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from torch import Tensor

from drgst.errors import TrainingError
from drgst.nn.losses import NodeLoss, cross_entropy
from drgst.nn.random import generator
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.calibrate.parts import Calibrate, Identity, stored, validation
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.correct.parts import Corrected, Labelled
from drgst.selftrain.history import History, Stage
from drgst.selftrain.learners.network import Problem, Targets, Trained
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.weigh.information_gain import Weights

GAIN = 1_000_003  # sets the generator of the gain apart from those of the trainings


@dataclass(frozen=True, eq=False)
class Seen:
    """What a student was trained on, as its teacher saw it."""

    pseudo: PseudoLabels = field(default_factory=PseudoLabels.empty)
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    gain: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    confidence: np.ndarray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Attempt:
    """A student, or None where every training broke off, and what was wrong with it ("" for nothing)."""

    corrected: Corrected | None
    fault: str


class StageTrainer:
    """Trains the networks of one run. Stage k, attempt a, training i draw from the generator (seed, k, a, i)."""

    def __init__(self, problem: Problem, recipe: Recipe, callback: Callback) -> None:
        self.problem, self.recipe, self.callback = problem, recipe, callback
        if getattr(recipe.calibrate, "needs_validation", False):
            validation(problem, recipe.calibrate)  # refused before hours of training, not after
        split = problem.split
        part = recipe.calibrate
        self.calibrate: Calibrate = part.bound(recipe) if hasattr(part, "bound") else part
        self.labelled = Labelled(split.train, problem.graph.labels[split.train], problem.graph.num_classes)

    def teacher(self) -> Stage:
        """f_θ trained on V_L alone (line 1), afresh while it collapses and tries are left."""
        began = time.perf_counter()
        nodes, labels = self.labelled.nodes, self.labelled.labels
        targets = Targets(nodes, labels, np.ones(nodes.size), nodes.size)
        for attempt in range(self.problem.settings.retries + 1):
            self.callback.training(0, attempt, 0)
            trained = self._train(targets, cross_entropy, (0, attempt, 0))
            fault = self._fault(trained)
            if not fault:
                break
        return self._record(0, Seen(), Corrected(trained, (trained,), None), began, True, fault or trained.note)

    def student(self, beliefs: Beliefs, pseudo: PseudoLabels, weights: Weights, history: History) -> Stage:
        """f_θ* of one stage (lines 6 to 8); not accepted if it collapsed or broke off in every try."""
        began = time.perf_counter()
        number = len(history)
        seen = Seen(pseudo, weights.pseudo, beliefs.gain[pseudo.nodes], beliefs.confidence[pseudo.nodes])
        made = self._tries(self._targets(pseudo, weights), number, history[-1].transition)
        if made.corrected is None:
            return self._broken(number, seen, began, made.fault, history.accepted[-1])
        note = f"the student of stage {number} collapsed ({made.fault}); its teacher was kept" if made.fault else ""
        return self._record(number, seen, made.corrected, began, not made.fault, note)

    def _tries(self, targets: Targets, number: int, before: np.ndarray | None) -> Attempt:
        settings = self.problem.settings
        made = Attempt(None, "")
        for attempt in range(1 + (settings.retries if settings.on_collapse == "retry" else 0)):
            self.callback.training(number, attempt, targets.nodes.size - targets.true)
            made = self._try(targets, number, attempt, before)
            if not made.fault:
                break
        return made

    def _try(self, targets: Targets, number: int, attempt: int, before: np.ndarray | None) -> Attempt:
        count = iter(range(1_000))
        try:
            corrected = self.recipe.correct(
                lambda loss: self._train(targets, loss, (number, attempt, next(count))), self.labelled, before
            )
        except TrainingError as error:
            return Attempt(None, f"stage {number} failed: {error}")
        return Attempt(corrected, self._fault(corrected.student))

    def _train(self, targets: Targets, loss: NodeLoss, place: tuple[int, int, int]) -> Trained:
        number, attempt, training = (0, place[1], 0) if self.recipe.same_start else place
        seed = (self.problem.seed, number, attempt, training)
        return self.recipe.learner.train(self.problem, targets, loss, seed, self.callback.epoch)

    def _targets(self, pseudo: PseudoLabels, weights: Weights) -> Targets:
        """V_L ∪ S_U."""
        return Targets(
            np.concatenate([self.labelled.nodes, pseudo.nodes]),
            np.concatenate([self.labelled.labels, pseudo.labels]),
            np.concatenate([weights.true, weights.pseudo]),
            self.labelled.nodes.size,
        )

    def _fault(self, trained: Trained) -> str:
        """Why a network counts as collapsed, or ""."""
        if self.problem.split.val.size and trained.training.collapsed:
            return "its validation loss never fell below its first value"
        if np.unique(trained.logits.argmax(axis=1)).size == 1:
            return "it gives every node the same class"
        return ""

    def _record(self, number: int, seen: Seen, corrected: Corrected, began: float, accepted: bool, note: str) -> Stage:
        student = corrected.student
        gain = student.gain(generator(self.problem.seed, number, 0, GAIN), self.recipe.gain_decides)
        learnt, calibrated, words = self._calibrate(student.logits, number)
        return Stage(
            number=number,
            **vars(seen),
            transition=corrected.transition,
            trainings=tuple(t.training for t in corrected.trainings),
            seconds=time.perf_counter() - began,
            calibrated=calibrated,
            selection_logits=student.selection_logits,
            accepted=accepted,
            note=_told(note, words if accepted else ""),
            logits=student.logits,
            all_gain=gain,
            embedding=student.embedding,
            state={**student.state, **learnt},
        )

    def _calibrate(self, logits: np.ndarray, number: int) -> tuple[dict[str, Tensor], np.ndarray | None, str]:
        """What the calibration learnt, under names of its own, the logits it gives, and what it says of itself."""
        part = self.calibrate
        if isinstance(part, Identity):
            return {}, None, ""
        learnt = part.fit(logits, self.problem, number)
        if learnt is None:  # it had nothing to learn from
            return {}, None, ""
        device = self.problem.settings.device
        words = part.words(learnt) if hasattr(part, "words") else ""
        return stored(learnt), part.apply(learnt, logits, self.problem.graph, device), words

    def _broken(self, number: int, seen: Seen, began: float, note: str, kept: Stage) -> Stage:
        """A stage without a student: what its teacher believed stands."""
        seconds = time.perf_counter() - began
        return replace(kept, number=number, seconds=seconds, accepted=False, note=note, trainings=(), **vars(seen))


def _told(note: str, words: str) -> str:
    """Both, with a full stop between them."""
    return f"{note}{'' if note.endswith('.') else '.'} {words}" if note and words else note or words
