"""Calibration of logits by a temperature, by scales and class biases, and by matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.transforms.propagate import smooth_log_probs
from drgst.transforms.softmax import log_softmax

LOWEST, HIGHEST = 0.02, 50.0  # range of temperatures
SHRINKAGE = 5.0  # κ: the prior of b is normal with variance 1 / 2κ
PRIOR_STD = 0.7  # σ: the prior of log T is normal; T is between a half and 2 most of the time

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]


def log_loss(logits: np.ndarray, labels: np.ndarray) -> float:
    """1/M Σ_i -log softmax(z_i)_{y_i}, in float64."""
    log_p = log_softmax(np.asarray(logits, dtype=np.float64))
    return float(-log_p[np.arange(labels.size), labels].mean())


def fit_temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """T = argmin_T Σ_i -log softmax(z_i / T)_{y_i} for (M, C) logits with (M,) labels; 0.02 ≤ T ≤ 50.

    Guo et al., On Calibration of Modern Neural Networks, ICML 2017. The loss is convex in 1/T, so a bounded search over
    log T finds the minimum.
    """
    return float(np.exp(_search(lambda t: log_loss(logits / np.exp(t), labels)).x))


def fit_temperature_with_prior(logits: np.ndarray, labels: np.ndarray) -> float:
    """T = argmin_T Σ_i -log softmax(z_i / T)_{y_i} + (log T)² / 2σ² for (M, C) logits with (M,) labels; σ = 0.7.

    For few labels: without the prior, a dozen labels that are all predicted correctly make every node certain.
    """

    def loss(t: float) -> float:
        return labels.size * log_loss(logits / np.exp(t), labels) + t * t / (2 * PRIOR_STD**2)

    found = _search(loss)
    grid = np.linspace(np.log(LOWEST), np.log(HIGHEST), 33)  # the loss of flat logits may have a second minimum
    best = min(grid, key=loss)
    if loss(best) < found.fun:
        step = grid[1] - grid[0]
        found = _search(loss, max(grid[0], best - step), min(grid[-1], best + step))
    return float(np.exp(found.x))


def fit_scale_and_bias(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """a, b = argmin 1/M Σ_i -log softmax(a z_i + b)_{y_i} + κ/M ‖b‖² for (M, C) logits with (M,) labels, κ = 5.

    Bias-corrected temperature scaling (Alexandari et al., ICML 2020). 1/a is a temperature from 0.02 to 50; b, (C,),
    corrects class proportions that few training labels got wrong. The objective is convex in (a, b), so L-BFGS from
    (1, 0) finds its minimum.
    """
    z = np.asarray(logits, dtype=np.float64)[None]
    shrinkage = SHRINKAGE / labels.size
    rows, target = np.arange(labels.size), _one_hot(labels, z.shape[2])

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = values[:1], values[1:]
        log_p = log_softmax(np.tensordot(a, z, 1) + b)
        error = (np.exp(log_p) - target) / labels.size
        gradient = np.concatenate([(error * z).sum(axis=(1, 2)), error.sum(axis=0) + 2 * shrinkage * b])
        return float(-log_p[rows, labels].mean() + shrinkage * b @ b), gradient

    scale, *bias = _minimise(objective, 1, z.shape[2])
    return float(scale), np.array(bias)


def fit_matrices(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W, b = argmin 1/M Σ_i -log softmax(Σ_v z_vi W_v + b)_{y_i} + κ/M ‖b‖² + C/M Σ_v min_a ‖W_v - a I‖², κ = 5.

    (V, C, C) and (C,) for (V, M, C) ``logits`` whose rows have mean 0 (:func:`centre`), with (M,) ``labels``; a matrix
    scaling (after Kull et al., NeurIPS 2019). The prior of W_v is a scaled identity, 0.02 ≤ a ≤ 50; its strength grows
    with the number of classes. Off-diagonal entries correct confusions of two classes, as a transition matrix does.
    The objective is convex, so L-BFGS finds its minimum.
    """
    z = np.asarray(logits, dtype=np.float64)
    views, number, classes = z.shape
    rows, target = np.arange(number), _one_hot(labels, classes)
    kept, shrunk = SHRINKAGE / number, classes / number

    def parts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a, b, m = np.split(values, [views, views + classes])
        return a, b, m.reshape(views, classes, classes)

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        a, b, m = parts(values)
        log_p = log_softmax(np.tensordot(a, z, 1) + np.matmul(z, m).sum(axis=0) + b)
        error = (np.exp(log_p) - target) / number
        by_matrix = np.matmul(z.transpose(0, 2, 1), error) + 2 * shrunk * m
        gradient = np.concatenate([(error * z).sum(axis=(1, 2)), error.sum(axis=0) + 2 * kept * b, by_matrix.ravel()])
        return float(-log_p[rows, labels].mean() + kept * b @ b + shrunk * (m * m).sum()), gradient

    a, b, m = parts(_minimise(objective, views, classes + views * classes * classes))
    return m + a[:, None, None] * np.eye(classes), b


def apply_matrices(logits: np.ndarray, matrices: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """log softmax(Σ_v z_v W_v + b), (N, C), for (V, N, C) ``logits``, (V, C, C) ``matrices`` and (C,) ``bias``."""
    return np.asarray(log_softmax(np.matmul(logits, matrices).sum(axis=0) + bias))


def centre(logits: np.ndarray) -> np.ndarray:
    """z_c - 1/C Σ_d z_d, (..., C) float64: the same softmax, with row mean 0."""
    return np.asarray(logits - logits.mean(axis=-1, keepdims=True), dtype=np.float64)


def own_and_smoothed(log_p: np.ndarray, s: sp.csr_array) -> np.ndarray:
    """log p, and log p smoothed over S, no p below 10⁻⁶; rows of mean 0, (2, N, C)."""
    return centre(np.stack([log_p, np.maximum(smooth_log_probs(log_p, s), np.log(1e-6))]))


def _search(loss: Callable[[float], float], low: float = np.log(LOWEST), high: float = np.log(HIGHEST)) -> Any:
    """The minimum of ``loss`` over log T."""
    from scipy.optimize import minimize_scalar  # slow to import

    return minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-6})


def _minimise(objective: Objective, scales: int, others: int) -> np.ndarray:
    """The minimum by L-BFGS: ``scales`` values from 1 within their bounds, then ``others`` free values from 0."""
    bounds = [(1 / HIGHEST, 1 / LOWEST)] * scales + [(None, None)] * others
    start = np.append(np.ones(scales), np.zeros(others))
    from scipy.optimize import minimize  # slow to import

    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x)


def _one_hot(labels: np.ndarray, classes: int) -> np.ndarray:
    target = np.zeros((labels.size, classes))
    target[np.arange(labels.size), labels] = 1
    return target
