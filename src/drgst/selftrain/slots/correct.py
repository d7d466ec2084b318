"""Correct: what to do about wrong pseudo-labels. A part trains the student of a stage, once or twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drgst.nn.losses import NodeLoss, corrected_cross_entropy, cross_entropy
from drgst.selftrain.learners.base import Trained
from drgst.transforms.softmax import softmax

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
    """The network of the previous stage: its logits of all nodes, and the T that it was trained with, if any."""

    logits: np.ndarray  # (N, C)
    transition: np.ndarray | None = None  # (C, C)


Correct = Callable[[TrainOnce, Labelled, Teacher], Corrected]  # the student that TrainOnce gave, with its T


@dataclass(frozen=True)
class NoCorrection:
    """One training with l(ȳ, p) = -log p_ȳ."""

    def __call__(self, train: TrainOnce, _labelled: Labelled, _teacher: Teacher) -> Corrected:
        student = train(cross_entropy)
        return Corrected(student, (student,))


def learn_transition(p: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
    """argmin_T of Eq. update_T from T = I, (C, C).

    ``p`` (M, C) are the student's probabilities of the true-labelled nodes, ``labels`` (M,) their labels. The
    sum over a class is N_k ‖T_k - p̄_k‖² plus a constant, so only class means enter; L-BFGS with the exact
    gradient 2 N_k (T_k - p̄_k) + 4 (T Tᵀ - I) T finds the minimum near I.
    """
    counts = np.bincount(labels, minlength=classes).astype(np.float64)[:, None]
    sums = np.zeros((classes, classes))
    np.add.at(sums, labels, np.asarray(p, dtype=np.float64))
    means = np.divide(sums, counts, out=np.eye(classes), where=counts > 0)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        t = flat.reshape(classes, classes)
        apart, skew = t - means, t @ t.T - np.eye(classes)
        value = (counts * apart**2).sum() + (skew**2).sum()
        return float(value), (2 * counts * apart + 4 * skew @ t).ravel()

    from scipy.optimize import minimize  # slow to import

    found = minimize(loss, np.eye(classes).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return found.x.reshape(classes, classes)


@dataclass(frozen=True)
class Transition:
    """Train without T, learn T from f_θ̄ on V_L (Eq. update_T), retrain from scratch with f_θ̄ = T f_θ*.

    Lines 6 to 8 of Algorithm 1. T starts from I in every stage.
    """

    def __call__(self, train: TrainOnce, labelled: Labelled, _teacher: Teacher) -> Corrected:
        first = train(cross_entropy)
        t = learn_transition(softmax(first.logits[labelled.nodes]), labelled.labels, labelled.classes)
        second = train(corrected_cross_entropy(t))
        return Corrected(second, (first, second), t)


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
        student = train(corrected_cross_entropy(t))
        return Corrected(student, (student,), t)
