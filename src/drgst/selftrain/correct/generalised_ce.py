"""Correct by a loss that wrong labels move less."""

from __future__ import annotations

from dataclasses import dataclass

from drgst.nn.losses import GeneralisedCrossEntropy
from drgst.selftrain.correct.base import Corrected, Labelled, Teacher, TrainOnce


@dataclass(frozen=True)
class GeneralisedCE:
    """One training with l(ȳ, p) = (1 - p_ȳ^q)/q, which wrong labels move less than cross-entropy."""

    q: float = 0.7

    def __call__(self, train: TrainOnce, _labelled: Labelled, _teacher: Teacher) -> Corrected:
        student = train(GeneralisedCrossEntropy(self.q))
        return Corrected(student, (student,))
