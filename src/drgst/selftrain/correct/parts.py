"""Correct: what to do about wrong pseudo-labels. A part trains the student of a stage, once or twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from drgst.nn.losses import CorrectedCrossEntropy, GeneralisedCrossEntropy, NodeLoss, cross_entropy
from drgst.selftrain.beliefs import softmax
from drgst.selftrain.correct.transition import learn_transition, learn_transition_as_released
from drgst.selftrain.learners.network import Trained

TrainOnce = Callable[[NodeLoss], Trained]  # trains a network from scratch on the stage's targets


@dataclass(frozen=True, eq=False)
class Labelled:
    """The true-labelled nodes: T is learnt from what a student says of them."""

    nodes: np.ndarray
    labels: np.ndarray
    classes: int


@dataclass(frozen=True, eq=False)
class Corrected:
    """The student of a stage, the trainings it took, and T where there is one."""

    student: Trained
    trainings: tuple[Trained, ...]
    transition: np.ndarray | None


class Correct(Protocol):
    """The verb: train a student with ``train``, given V_L and the T of the stage before."""

    def __call__(self, train: TrainOnce, labelled: Labelled, before: np.ndarray | None) -> Corrected: ...


@dataclass(frozen=True)
class NoCorrection:
    """One training with l(ȳ, p) = -log p_ȳ."""

    def __call__(self, train: TrainOnce, labelled: Labelled, before: np.ndarray | None) -> Corrected:  # noqa: ARG002
        student = train(cross_entropy)
        return Corrected(student, (student,), None)


@dataclass(frozen=True)
class Transition:
    """Train without T, learn T from f_θ̄ on V_L (Eq. update_T), retrain from scratch with f_θ̄ = T f_θ*.

    Lines 6 to 8 of Algorithm 1. T starts from I in every stage.
    """

    def __call__(self, train: TrainOnce, labelled: Labelled, before: np.ndarray | None) -> Corrected:  # noqa: ARG002
        first = train(cross_entropy)
        p = softmax(first.logits[labelled.nodes])
        t = learn_transition(p, labelled.labels, labelled.classes)
        second = train(CorrectedCrossEntropy(torch.from_numpy(t).float()))
        return Corrected(second, (first, second), t)


@dataclass(frozen=True)
class CarriedTransition:
    """One training with the T of the stage before (I at first); T is updated after it: the published program."""

    def __call__(self, train: TrainOnce, labelled: Labelled, before: np.ndarray | None) -> Corrected:
        t = np.eye(labelled.classes) if before is None else before
        student = train(CorrectedCrossEntropy(torch.from_numpy(t).float()))
        p = softmax(student.logits[labelled.nodes])
        return Corrected(student, (student,), learn_transition_as_released(p, labelled.labels, t))


@dataclass(frozen=True)
class GeneralisedCE:
    """One training with l(ȳ, p) = (1 - p_ȳ^q)/q, which wrong labels move less than cross-entropy."""

    q: float = 0.7

    def __call__(self, train: TrainOnce, labelled: Labelled, before: np.ndarray | None) -> Corrected:  # noqa: ARG002
        student = train(GeneralisedCrossEntropy(self.q))
        return Corrected(student, (student,), None)
