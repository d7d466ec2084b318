"""What the known labels say of each view, on nodes that its reader did not learn from."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.learners.multiview.regression import fit_linear, log_softmax, read

FOLDS = 5  # at most
HEATS = np.geomspace(0.1, 3, 16)  # temperatures that are tried


def folds(labels: np.ndarray, most: int = FOLDS) -> np.ndarray:
    """A fold for every node, (M,): the nodes of a class are dealt out in turn, to as many as the smallest class has."""
    counts = np.bincount(labels)
    number = min(most, int(counts[counts > 0].min()))
    order = np.argsort(labels, kind="stable")
    rank = np.empty(labels.size, dtype=np.int64)
    rank[order] = np.arange(labels.size) - np.searchsorted(labels[order], labels[order])
    return rank % number


def out_of_fold(lens: np.ndarray, nodes: np.ndarray, labels: np.ndarray, classes: int, l2: float) -> np.ndarray:
    """log p of every node from a reader that did not see its fold, (M, C)."""
    fold = folds(labels)
    out = np.zeros((nodes.size, classes))
    for f in range(fold.max() + 1):
        seen, asked = fold != f, fold == f
        fitted = fit_linear(lens[nodes[seen]], labels[seen], np.ones(seen.sum()), classes, l2)
        out[asked] = read(lens[nodes[asked]], *fitted)
    return out


def best_log_probs(log_p: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """log softmax(log p_i / T)[y_i] at the T of the highest sum, (M,): views are compared at their best."""
    each = [log_softmax(log_p / heat)[np.arange(labels.size), labels] for heat in HEATS]
    return max(each, key=lambda values: float(values.sum()))


def t_statistic(rival: np.ndarray, base: np.ndarray) -> float:
    """Mean of rival - base over nodes, in standard errors; 0 where nothing differs."""
    gain = rival - base
    error = gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else 0.0
    return float(gain.mean() / error) if error > 0 else 0.0
