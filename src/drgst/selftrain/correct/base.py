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


@dataclass(frozen=True, eq=False)
class Teacher:
    """The network of the stage before: its logits of all nodes, and the T that it was trained with, if any."""

    logits: np.ndarray  # (N, C)
    transition: np.ndarray | None = None  # (C, C)


class Correct(Protocol):
    """(train, V_L, teacher) -> the student that ``train`` gave, with the T that it was trained with."""

    def __call__(self, train: TrainOnce, labelled: Labelled, teacher: Teacher, /) -> Corrected: ...


@dataclass(frozen=True)
class NoCorrection:
    """One training with l(ȳ, p) = -log p_ȳ."""

    def __call__(self, train: TrainOnce, _labelled: Labelled, _teacher: Teacher) -> Corrected:
        student = train(cross_entropy)
        return Corrected(student, (student,))
