"""Calibration by one temperature and a shift a class (Alexandari et al., ICML 2020)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from drgst.uncertainty.temperature import HIGHEST, LOWEST

SHRINKAGE = 5.0  # κ: b is thought to be normal with variance 1 / 2κ


def best_scale_and_shift(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """a, b = argmin 1/M Σ_i -log softmax(a z_i + b)_{y_i} + κ/M ‖b‖² for (M, C) logits with (M,) labels, κ = 5.

    1/a is a temperature from 0.02 to 50; b, (C,), mends class shares that few training labels got wrong. The
    objective is convex in (a, b): L-BFGS from (1, 0) finds its one minimum.
    """
    z = np.asarray(logits, dtype=np.float64)
    shrinkage = SHRINKAGE / labels.size
    asked = np.arange(labels.size)
    target = np.zeros_like(z)
    target[asked, labels] = 1

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = values[0], values[1:]
        log_p = log_softmax(a * z + b, axis=1)
        wrong = (np.exp(log_p) - target) / labels.size
        gradient = np.concatenate([[(wrong * z).sum()], wrong.sum(axis=0) + 2 * shrinkage * b])
        return float(-log_p[asked, labels].mean() + shrinkage * b @ b), gradient

    bounds = [(1 / HIGHEST, 1 / LOWEST)] + [(None, None)] * z.shape[1]
    found = minimize(objective, np.append(1.0, np.zeros(z.shape[1])), jac=True, method="L-BFGS-B", bounds=bounds)
    return float(found.x[0]), found.x[1:]
