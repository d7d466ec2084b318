"""Correct by a transition matrix that is updated after every training, as the published program does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from drgst.nn.losses import CorrectedCrossEntropy
from drgst.selftrain.correct.base import Corrected, Labelled, Teacher, TrainOnce
from drgst.transforms.softmax import softmax

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
    """One training with T_k, the update of T_k-1 by the teacher's predictions of V_L; T_0 = I.

    T is updated after every training, that of stage 0 included, so the first student is trained with a learnt T.
    """

    def __call__(self, train: TrainOnce, labelled: Labelled, teacher: Teacher) -> Corrected:
        before = np.eye(labelled.classes) if teacher.transition is None else teacher.transition
        t = learn_transition_as_released(softmax(teacher.logits[labelled.nodes]), labelled.labels, before)
        student = train(CorrectedCrossEntropy(torch.from_numpy(t).float()))
        return Corrected(student, (student,), t)
