"""Weighted softmax regression: a convex problem, so the result does not depend on a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.shards import ALONE, Shards
from drgst.transforms.products import as_float32
from drgst.transforms.softmax import log_softmax_float32, row_max, row_sum

STEPS = 20  # of accelerated descent; the objective is then within 0.001 of its minimum on the paper's data sets


@dataclass(frozen=True)
class SoftmaxRegression:
    """min over W, b of Σ_i w_i CE(y_i, softmax(z_i W + b)) / n + λ/2 ‖W‖², n = Σ_i w_i, λ = min(1 / n, ``most_l2``).

    λ = 1 / n is a standard normal prior on W, the default of scikit-learn's ``LogisticRegression``: it counts for less
    the more labels there are. For few labels it would leave little but class means; hence the bound (experiment 023).

    The Hessian of the first term is at most ½ Zᵀ diag(w) Z / n for every class (Böhning, 1992). So a step by the
    inverse of ½ Zᵀ diag(w) Z / n + λ I, factorised once, never overshoots. Twenty steps with Nesterov's momentum,
    restarted where it points uphill.
    """

    classes: int
    most_l2: float = 1e-3

    def fit(
        self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray, shards: Shards = ALONE
    ) -> tuple[np.ndarray, np.ndarray]:
        """W, (D, C), and b, (C,), float32, for (M, D) ``rows``; of several ``shards``, for the rows of all together."""
        z = as_float32(rows)
        if shards.size == 1 and z.shape[0] < z.shape[1]:  # W lies in the span of the rows
            basis, triangle = np.linalg.qr(z.T)
            weight, bias = self._minimise(np.ascontiguousarray(triangle.T), labels, weights)
            return basis @ weight, bias
        return self._minimise(z, labels, weights, shards)

    def _minimise(
        self, z: np.ndarray, labels: np.ndarray, weights: np.ndarray, shards: Shards = ALONE
    ) -> tuple[np.ndarray, np.ndarray]:
        from scipy.linalg import cho_factor, cho_solve  # slow to import

        count, width = z.shape
        total = shards.sum(weights.sum())
        share = (weights / total).astype(np.float32)[:, None]
        z = np.hstack([z, np.ones((count, 1), dtype=np.float32)])  # the last column is the bias
        penalty = np.full((width + 1, 1), min(1 / total, self.most_l2), dtype=np.float32)
        penalty[-1] = 0
        curvature = shards.sum((z * share).T @ z / 2)
        # The bias has no l2; rounding must not make the matrix singular.
        curvature[np.diag_indices(width + 1)] += np.maximum(penalty, np.finfo(np.float32).eps)[:, 0]
        factor = cho_factor(curvature, overwrite_a=True, check_finite=False)
        target = np.zeros((count, self.classes), dtype=np.float32)
        target[np.arange(count), labels] = 1
        w = ahead = np.zeros((width + 1, self.classes), dtype=np.float32)
        momentum = 1.0
        for _ in range(STEPS):
            error = _softmax_rows(z @ ahead) - target
            error *= share
            new = ahead - cho_solve(factor, shards.sum(z.T @ error) + penalty * ahead, check_finite=False)
            if np.vdot(ahead - new, new - w) > 0:
                momentum = 1.0
            following = (1 + np.sqrt(1 + (2 * momentum) ** 2)) / 2
            ahead = new + np.float32((momentum - 1) / following) * (new - w)
            w, momentum = new, following
        return w[:-1], w[-1]


def linear_log_probs(rows: np.ndarray, weight: np.ndarray, bias: np.ndarray, large: bool = False) -> np.ndarray:
    """log softmax(z W + b), (N, C) float32, for rows of any storage, some of ``large`` many or all."""
    return log_softmax_float32(as_float32(rows) @ weight + bias, large)


def _softmax_rows(z: np.ndarray) -> np.ndarray:
    """softmax in float32, in place."""
    z -= row_max(z)
    np.exp(z, out=z)
    z /= row_sum(z)
    return z
