"""Calibration by matrices over what a node and its neighbourhood believe (after Kull et al., NeurIPS 2019)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from drgst.graph.transforms.propagate import smooth_log_probs
from drgst.graph.transforms.softmax import log_softmax
from drgst.uncertainty.bias import SHRINKAGE
from drgst.uncertainty.temperature import HIGHEST, LOWEST


def best_mixing(opinions: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W, b = argmin 1/M Σ_i -log softmax(Σ_v z_vi W_v + b)_{y_i} + κ/M ‖b‖² + C/M Σ_v min_a ‖W_v - a I‖², κ = 5.

    (V, C, C) and (C,) for (V, M, C) ``opinions`` whose rows have mean 0 (:func:`centred`), with (M,) ``labels``. Each
    W_v is thought to be a scale a_v (from 0.02 to 50) and little beside it, the less the more classes there are: what
    one class's belief says of another, as a transition matrix does. The objective is convex: L-BFGS finds its minimum.
    """
    z = np.asarray(opinions, dtype=np.float64)
    several, number, classes = z.shape
    asked = np.arange(number)
    target = np.zeros((number, classes))
    target[asked, labels] = 1
    kept, shrunk = SHRINKAGE / number, classes / number

    def parts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a, b, m = np.split(values, [several, several + classes])
        return a, b, m.reshape(several, classes, classes)

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        a, b, m = parts(values)
        log_p = log_softmax(np.tensordot(a, z, 1) + np.matmul(z, m).sum(axis=0) + b)
        wrong = (np.exp(log_p) - target) / number
        by_matrix = np.matmul(z.transpose(0, 2, 1), wrong) + 2 * shrunk * m
        gradient = np.concatenate([(wrong * z).sum(axis=(1, 2)), wrong.sum(axis=0) + 2 * kept * b, by_matrix.ravel()])
        return float(-log_p[asked, labels].mean() + kept * b @ b + shrunk * (m * m).sum()), gradient

    rest = classes + several * classes * classes
    bounds = [(1 / HIGHEST, 1 / LOWEST)] * several + [(None, None)] * rest
    found = minimize(objective, np.append(np.ones(several), np.zeros(rest)), jac=True, method="L-BFGS-B", bounds=bounds)
    a, b, m = parts(found.x)
    return m + a[:, None, None] * np.eye(classes), b


def mixed(opinions: np.ndarray, matrices: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """log softmax(Σ_v z_v W_v + b), (N, C), for (V, N, C) ``opinions``, (V, C, C) ``matrices`` and (C,) ``shift``."""
    return log_softmax(np.matmul(opinions, matrices).sum(axis=0) + shift)


def centred(log_p: np.ndarray) -> np.ndarray:
    """z_c - mean over classes of z, (..., C): what softmax does not see is taken away."""
    return np.asarray(log_p - log_p.mean(axis=-1, keepdims=True), dtype=np.float64)


def own_and_smoothed(log_p: np.ndarray, s: sp.csr_array | None) -> np.ndarray:
    """log p, and log p smoothed over S where there is one, no p below 10⁻⁶; rows of mean 0, (1 or 2, N, C)."""
    both = [log_p] if s is None else [log_p, np.maximum(smooth_log_probs(log_p, s), np.log(1e-6))]
    return centred(np.stack(both))
