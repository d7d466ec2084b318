"""Correct: what to do about wrong pseudo-labels. A part trains the student of a stage, once or twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from drgst.nn.losses import NodeLoss, cross_entropy
from drgst.selftrain.learners.base import Trained

TrainOnce = Callable[[NodeLoss], Trained]  # trains a network from scratch on the targets of the stage


@dataclass(frozen=True, eq=False)
class Labelled:
    """The true-labelled nodes: T is learnt from a student's predictions of them."""

    nodes: np.ndarray
    labels: np.ndarray
    classes: int


@dataclass(frozen=True, eq=False)
class Corrected:
    """The student of a stage, the trainings it took, and T where there is one."""

    student: Trained
    trainings: tuple[Trained, ...]
    transition: np.ndarray | None = None


class Correct(Protocol):
    """(train, V_L, T of the stage before or None) -> the student that ``train`` gave, with T."""

    def __call__(self, train: TrainOnce, labelled: Labelled, before: np.ndarray | None, /) -> Corrected: ...


@dataclass(frozen=True)
class NoCorrection:
    """One training with l(ȳ, p) = -log p_ȳ."""

    def __call__(self, train: TrainOnce, _labelled: Labelled, _before: np.ndarray | None) -> Corrected:
        student = train(cross_entropy)
        return Corrected(student, (student,))
