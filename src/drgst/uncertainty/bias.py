"""Calibration by a scale, or several, and a shift a class (Alexandari et al., ICML 2020)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from drgst.graph.transforms.softmax import log_softmax
from drgst.uncertainty.temperature import HIGHEST, LOWEST

SHRINKAGE = 5.0  # κ: b is thought to be normal with variance 1 / 2κ


def best_scale_and_shift(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """a, b = argmin 1/M Σ_i -log softmax(a z_i + b)_{y_i} + κ/M ‖b‖² for (M, C) logits with (M,) labels, κ = 5.

    1/a is a temperature from 0.02 to 50; b, (C,), mends class shares that few training labels got wrong.
    """
    scales, shift = best_scales_and_shift(np.asarray(logits)[None], labels)
    return float(scales[0]), shift


def best_scales_and_shift(voices: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a, b = argmin 1/M Σ_i -log softmax(Σ_g a_g z_gi + b)_{y_i} + κ/M ‖b‖² for (G, M, C) logits, κ = 5; (G,), (C,).

    Each a_g is from 0.02 to 50: a voice that knows nothing is all but silenced. The objective is convex in (a, b):
    L-BFGS from (1, 0) finds its minimum.
    """
    z = np.asarray(voices, dtype=np.float64)
    several = z.shape[0]
    shrinkage = SHRINKAGE / labels.size
    asked = np.arange(labels.size)
    target = np.zeros(z.shape[1:])
    target[asked, labels] = 1

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = values[:several], values[several:]
        log_p = log_softmax(np.tensordot(a, z, 1) + b)
        wrong = (np.exp(log_p) - target) / labels.size
        gradient = np.concatenate([(wrong * z).sum(axis=(1, 2)), wrong.sum(axis=0) + 2 * shrinkage * b])
        return float(-log_p[asked, labels].mean() + shrinkage * b @ b), gradient

    bounds = [(1 / HIGHEST, 1 / LOWEST)] * several + [(None, None)] * z.shape[2]
    begin = np.append(np.ones(several), np.zeros(z.shape[2]))
    found = minimize(objective, begin, jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x[:several], found.x[several:]
