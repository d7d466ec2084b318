"""Out-of-fold log-probabilities of the labelled nodes, and the weights of views that are fitted to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from drgst.graph.split import rank_within_class
from drgst.selftrain.views.regression import SoftmaxRegression, linear_log_probs
from drgst.transforms.softmax import log_softmax
from drgst.uncertainty.calibration import PRIOR_STD

FOLDS = 3
PSEUDO_COUNTS = 20.0  # labels that the default weights count for: experiment 021
RELATED_COUNTS = 5.0  # with relations: many views, labels must find the few that matter (docs/guides/relations.md)


def folds(labels: np.ndarray, number: int = FOLDS) -> np.ndarray:
    """A fold for every node, (M,), stratified by class; -1, never held out, where a class has one label only."""
    return np.where(np.bincount(labels)[labels] > 1, rank_within_class(labels) % number, -1)


def out_of_fold(rows: np.ndarray, labels: np.ndarray, regression: SoftmaxRegression) -> np.ndarray:
    """log p of every row by a regression that was fitted without its fold, (M, C) for (M, D) ``rows``."""
    fold = folds(labels)
    out = np.zeros((labels.size, regression.classes))
    for f in range(fold.max() + 1):
        inside, outside = fold == f, fold != f
        fitted = regression.fit(rows[outside], labels[outside], np.ones(outside.sum()))
        out[inside] = linear_log_probs(rows[inside], *fitted)
    return out


def stack(log_probs: np.ndarray, labels: np.ndarray, default: np.ndarray, counts: float = PSEUDO_COUNTS) -> np.ndarray:
    """w = argmax Σ_i log softmax(s Σ_v w_v L_vi)[y_i] + m Σ_v w⁰_v log w_v - log² s / 2σ² on the simplex, (V,).

    ``log_probs`` are L, (V, M, C), out of fold; ``default`` are w⁰, (V,). The second term is a Dirichlet prior: the
    default counts for m = ``counts`` labels, so that few labels change it little and many decide. The scale s, with a
    log-normal prior, keeps weights from making up for log-probabilities that are too large or too small as a whole.
    """
    views, rows = len(default), np.arange(labels.size)

    def objective(t: np.ndarray) -> tuple[float, np.ndarray]:
        w = _on_simplex(t[:views])
        z = np.exp(t[views]) * np.tensordot(w, log_probs, 1)
        log_p = log_softmax(z)
        value = counts * default @ np.log(w) - (t[views] / PRIOR_STD) ** 2 / 2
        error = np.exp(log_p)
        error[rows, labels] -= 1
        slope = np.exp(t[views]) * np.einsum("mc,vmc->v", error, log_probs) - counts * default / w
        by_scale = (error * z).sum() + t[views] / PRIOR_STD**2
        return -float(log_p[rows, labels].sum() + value), np.append(w * (slope - w @ slope), by_scale)

    from scipy.optimize import minimize  # slow to import

    found = minimize(objective, np.zeros(views + 1), jac=True, method="L-BFGS-B")
    return _on_simplex(found.x[:views])


def view_weights(
    representations: Mapping[str, np.ndarray],
    labels: np.ndarray,
    default: Mapping[str, float],
    regression: SoftmaxRegression,
    counts: float = PSEUDO_COUNTS,
) -> dict[str, float]:
    """View -> weight, by :func:`stack`, from the rows of the labelled nodes in each view, (M, D).

    The default where no label can be held out: every class has one label only.
    """
    prior = np.array([default[name] for name in representations])
    prior = prior / prior.sum() if prior.any() else np.full(prior.size, 1 / prior.size)
    held_out = folds(labels) >= 0
    if held_out.any() and len(prior) > 1:
        each = [out_of_fold(z, labels, regression)[held_out] for z in representations.values()]
        prior = stack(np.stack(each), labels[held_out], prior, counts)
    return dict(zip(representations, prior.tolist(), strict=True))


def _on_simplex(t: np.ndarray) -> np.ndarray:
    """softmax, with every weight at least the rounding error of the largest, so that it has a logarithm."""
    w = np.exp(np.maximum(t - t.max(), np.log(np.finfo(np.float64).eps)))
    return np.asarray(w / w.sum())
