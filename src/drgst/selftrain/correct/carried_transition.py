"""Correct by the transition matrix of the stage before, as the published program does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from drgst.graph.transforms.softmax import softmax
from drgst.nn.losses import CorrectedCrossEntropy
from drgst.selftrain.correct.base import Corrected, Labelled, TrainOnce

STEPS, LR, DECAY = 200, 0.01, 5e-4  # of Adam, as published


def learn_transition_as_released(p: np.ndarray, labels: np.ndarray, before: np.ndarray) -> np.ndarray:
    """argmin_T mean (T_y - f)² + mean (T - I)² by 200 Adam steps with weight decay from ``before``, (C, C).

    ``p`` (M, C) are the student's probabilities of the true-labelled nodes, ``labels`` (M,) their labels.
    """
    t = before.astype(np.float64).copy()
    m, v = np.zeros_like(t), np.zeros_like(t)
    c = t.shape[0]
    for step in range(1, STEPS + 1):
        grad = 2 * (t - np.eye(c)) / c**2 + DECAY * t
        np.add.at(grad, labels, 2 * (t[labels] - p) / p.size)
        m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad**2
        t -= LR * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return t


@dataclass(frozen=True)
class CarriedTransition:
    """One training with the T of the stage before (I at first), after which T is updated."""

    def __call__(self, train: TrainOnce, labelled: Labelled, before: np.ndarray | None) -> Corrected:
        t = np.eye(labelled.classes) if before is None else before
        student = train(CorrectedCrossEntropy(torch.from_numpy(t).float()))
        p = softmax(student.logits[labelled.nodes])
        return Corrected(student, (student,), learn_transition_as_released(p, labelled.labels, t))
