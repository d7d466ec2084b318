"""Correct by the transition matrix T, how true labels turn into pseudo-labels: the paper's correction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from drgst.nn.losses import CorrectedCrossEntropy, cross_entropy
from drgst.selftrain.correct.base import Corrected, Labelled, Teacher, TrainOnce
from drgst.transforms.softmax import softmax


def transition_loss(t: np.ndarray, p: np.ndarray, labels: np.ndarray) -> float:
    """Σ_k Σ_{i: y_i = k} ‖T_k - f(x_i)‖² + ‖T Tᵀ - I‖² (Eq. update_T)."""
    c = t.shape[0]
    return float(((t[labels] - p) ** 2).sum() + ((t @ t.T - np.eye(c)) ** 2).sum())


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
        second = train(CorrectedCrossEntropy(torch.from_numpy(t).float()))
        return Corrected(second, (first, second), t)
