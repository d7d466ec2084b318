"""The transition matrix T: how true labels turn into pseudo-labels."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.optimize import minimize

Regulariser = Literal["orthogonal", "identity"]


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

    found = minimize(loss, np.eye(classes).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return found.x.reshape(classes, classes)


def learn_transition_as_released(
    p: np.ndarray, labels: np.ndarray, before: np.ndarray, steps: int = 200, lr: float = 0.01, decay: float = 5e-4
) -> np.ndarray:
    """argmin_T mean (T_y - f)² + mean (T - I)² by 200 Adam steps with weight decay, from the T of the stage before.

    The published program's update, (C, C).
    """
    t = before.astype(np.float64).copy()
    m, v = np.zeros_like(t), np.zeros_like(t)
    c = t.shape[0]
    for step in range(1, steps + 1):
        grad = 2 * (t - np.eye(c)) / c**2 + decay * t
        np.add.at(grad, labels, 2 * (t[labels] - p) / p.size)
        m, v = 0.9 * m + 0.1 * grad, 0.999 * v + 0.001 * grad**2
        t -= lr * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return t
