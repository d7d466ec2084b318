"""Out-of-fold log-probabilities of known labels, and the comparison of two views by them."""

from __future__ import annotations

import numpy as np

from drgst.graph.transforms.softmax import log_softmax
from drgst.selftrain.learners.multiview.regression import SoftmaxRegression, linear_log_probs

MAX_FOLDS = 5
TEMPERATURES = np.geomspace(0.1, 3, 16)  # at which views are compared


def folds(labels: np.ndarray, most: int = MAX_FOLDS) -> np.ndarray:
    """A fold for every node, (M,), stratified by class; at most as many folds as the smallest class has nodes."""
    counts = np.bincount(labels)
    number = min(most, int(counts[counts > 0].min()))
    order = np.argsort(labels, kind="stable")
    rank = np.empty(labels.size, dtype=np.int64)
    rank[order] = np.arange(labels.size) - np.searchsorted(labels[order], labels[order])
    return rank % number


def out_of_fold(rows: np.ndarray, labels: np.ndarray, regression: SoftmaxRegression) -> np.ndarray:
    """log p of every row by a regression that was fitted without its fold, (M, C) for (M, D) ``rows``."""
    fold = folds(labels)
    out = np.zeros((labels.size, regression.classes))
    for f in range(fold.max() + 1):
        inside, outside = fold == f, fold != f
        fitted = regression.fit(rows[outside], labels[outside], np.ones(outside.sum()))
        out[inside] = linear_log_probs(rows[inside], *fitted)
    return out


def label_log_probs(log_p: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """log softmax(log p_i / T)[y_i] at the T of the highest sum, (M,): each view at its best temperature."""
    each = [log_softmax(log_p / t)[np.arange(labels.size), labels] for t in TEMPERATURES]
    return max(each, key=lambda values: float(values.sum()))


def t_statistic(rival: np.ndarray, base: np.ndarray) -> float:
    """Mean of rival - base over nodes in standard errors (paired t statistic); 0 where nothing differs."""
    gain = rival - base
    error = gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else 0.0
    return float(gain.mean() / error) if error > 0 else 0.0


def critical_value(nodes: int, significance: float) -> float:
    """The value that Student's t over so many nodes exceeds with probability ``significance``."""
    from scipy.stats import t

    return float(t.ppf(1 - significance, max(nodes - 1, 1)))
