"""Calibration by one temperature (Guo et al., On Calibration of Modern Neural Networks, ICML 2017)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from drgst.graph.transforms.softmax import log_softmax

LOWEST, HIGHEST = 0.02, 50.0  # temperatures that are tried


def log_loss(logits: np.ndarray, labels: np.ndarray) -> float:
    """1/M Σ_i -log softmax(z_i)_{y_i}, in float64."""
    log_p = log_softmax(np.asarray(logits, dtype=np.float64))
    return float(-log_p[np.arange(labels.size), labels].mean())


def best_temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    """T = argmin_T Σ_i -log softmax(z_i / T)_{y_i} for (M, C) logits with (M,) labels; 0.02 ≤ T ≤ 50.

    The loss is convex in 1/T, so a search on log T finds the one minimum.
    """
    found = minimize_scalar(
        lambda t: log_loss(logits / np.exp(t), labels),
        bounds=(np.log(LOWEST), np.log(HIGHEST)),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(found.x))


def likely_temperature(logits: np.ndarray, labels: np.ndarray, spread: float = 0.7) -> float:
    """T = argmin_T Σ_i -log softmax(z_i / T)_{y_i} + (log T)² / 2σ² for (M, C) logits with (M,) labels; σ = 0.7.

    For few labels: T is thought to be between a half and 2 most of the time, so that a dozen labels that happen to be
    all right do not make every node certain.
    """

    def loss(t: float) -> float:
        return labels.size * log_loss(logits / np.exp(t), labels) + t * t / (2 * spread**2)

    low, high = np.log(LOWEST), np.log(HIGHEST)
    found = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-6})
    grid = np.linspace(low, high, 33)  # flat logits may have a second valley far from 1
    best = min(grid, key=loss)
    if loss(best) < found.fun:
        step = grid[1] - grid[0]
        around = (max(low, best - step), min(high, best + step))
        found = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))
