"""Softmax regression: the minimum of its objective, with few rows and many, weighted, and without l2 on the bias."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from drgst.selftrain.views.regression import SoftmaxRegression, linear_log_probs
from drgst.transforms.softmax import log_softmax


def objective(w: np.ndarray, b: np.ndarray, z: np.ndarray, labels: np.ndarray, weights: np.ndarray, l2: float) -> float:
    log_p = log_softmax(z @ w + b)[np.arange(labels.size), labels]
    return float(-(weights @ log_p) / weights.sum() + l2 / 2 * (w**2).sum())


@pytest.mark.parametrize("count", [12, 200])
def test_the_minimum_of_the_objective(count: int) -> None:
    """Against SciPy; with 12 rows of 20 columns the dual form is used."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, count)
    z = (rng.normal(size=(count, 20)) + np.eye(3, 20)[labels]).astype(np.float32)
    weights = rng.random(count) + 0.1
    w, b = SoftmaxRegression(3, 1e-2).fit(z, labels, weights)
    assert (w.shape, b.shape, w.dtype) == ((20, 3), (3,), np.float32)

    def flat(t: np.ndarray) -> float:
        return objective(t[:60].reshape(20, 3), t[60:], z, labels, weights, 1e-2)

    best = minimize(flat, np.zeros(63), method="L-BFGS-B").fun
    assert best - 1e-5 <= objective(w, b, z, labels, weights, 1e-2) <= best + 2e-3


def test_weight_zero_is_absent() -> None:
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(40, 5)).astype(np.float32), rng.integers(0, 2, 40)
    regression = SoftmaxRegression(2, 1e-2)
    some = regression.fit(z[:30], labels[:30], np.ones(30))
    all_ = regression.fit(z, labels, np.append(np.ones(30), np.zeros(10)))
    np.testing.assert_allclose(some[0], all_[0], atol=1e-3)


def test_the_bias_is_not_penalised() -> None:
    """Rows that tell nothing: the bias gives the shares of the classes, however large the l2."""
    labels = np.array([0, 0, 0, 1])
    w, b = SoftmaxRegression(2, 10.0).fit(np.zeros((4, 2), np.float32), labels, np.ones(4))
    p = np.exp(linear_log_probs(np.zeros((1, 2), np.float32), w, b))
    np.testing.assert_allclose(p, [[0.75, 0.25]], atol=0.01)


def test_the_more_labels_the_less_the_penalty_counts() -> None:
    """λ = 1 / n: rows that are repeated tenfold are fitted more closely; below the bound nothing changes."""
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(60, 5)).astype(np.float32), rng.integers(0, 2, 60)
    free, bounded = SoftmaxRegression(2, 1.0), SoftmaxRegression(2, 1e-4)
    sizes = [[np.abs(r.fit(z, labels, np.full(60, w))[0]).sum() for w in (1.0, 10.0)] for r in (free, bounded)]
    assert sizes[0][1] > 1.02 * sizes[0][0]
    assert sizes[1][1] == pytest.approx(sizes[1][0], rel=1e-3)
