"""All evaluation metrics. They read true labels, so nothing that trains or selects may call them on test nodes.

To add a metric to ``summary.json``: write it as a method of :class:`ClassScores` and name it in ``METRICS``. The page
shows it once :mod:`drgst.report.summary` has a card for it.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.selftrain.history import Stage

Metrics = dict[str, float | None]
BINS = 20  # of confidence, for the ECE and the reliability diagram
Z = 1.959964  # 95 % quantile of the normal distribution, two-sided
METRICS = {  # name in summary.json -> whose probabilities, nodes, method of ClassScores
    "test_accuracy": ("result", "test", "accuracy"),
    "teacher_test_accuracy": ("teacher", "test", "accuracy"),
    "val_accuracy": ("result", "val", "accuracy"),
    "teacher_val_accuracy": ("teacher", "val", "accuracy"),
    "macro_f1": ("result", "test", "macro_f1"),
    "ece": ("result", "test", "ece"),
    "teacher_ece": ("teacher", "test", "ece"),
    "brier": ("result", "test", "brier"),
}


def accuracy(predicted: np.ndarray, truth: np.ndarray) -> float:
    """1/M Σ_i [ŷ_i = y_i] over the nodes of known label (y ≥ 0); NaN where there is none."""
    known = truth >= 0
    return float((predicted[known] == truth[known]).mean()) if known.any() else float("nan")


def confusion(predicted: np.ndarray, truth: np.ndarray, classes: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Σ_i w_i by true class (rows) and predicted class (columns), (C, C), over the nodes of known label; w = 1."""
    known = truth >= 0
    places = truth[known] * classes + predicted[known]
    weights = None if weights is None else weights[known]
    return np.bincount(places, weights=weights, minlength=classes**2).reshape(classes, classes)


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share: (p̂ + z²/2n ± z √(p̂(1-p̂)/n + z²/4n²)) / (1 + z²/n) (Wilson 1927)."""
    p, z2 = hits / count, Z * Z / count
    half = Z * math.sqrt(p * (1 - p) / count + z2 / (4 * count))
    return max(0.0, (p + z2 / 2 - half) / (1 + z2)), min(1.0, (p + z2 / 2 + half) / (1 + z2))


def reliability(p: np.ndarray, hit: np.ndarray, bins: int = BINS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of nodes, mean stated probability p and share of hits in each bin of p, (B,) each; 0 in empty bins."""
    place = _bin(p, bins)
    count = np.bincount(place, minlength=bins)
    stated, true = (np.bincount(place, weights=values, minlength=bins) / np.maximum(count, 1) for values in (p, hit))
    return count, stated, true


class ClassScores:
    """Accuracy, macro-F1, ECE and Brier score of probabilities p, (M, C), with truth y, (M,), where y ≥ 0.

    Each is a function of weights w, (M,), one per node of known label: 1 by default, or the counts of a bootstrap
    resample. What does not depend on w is computed once. All are NaN where no label is known.
    """

    def __init__(self, p: np.ndarray, y: np.ndarray) -> None:
        known = y >= 0
        self.p, self.y = (p, y) if known.all() else (p[known], y[known])

    @cached_property
    def predicted(self) -> np.ndarray:
        """The likeliest class, (M,)."""
        return self.p.argmax(axis=1)

    @cached_property
    def _right(self) -> np.ndarray:
        return (self.predicted == self.y).astype(np.float64)

    @cached_property
    def _gaps(self) -> tuple[np.ndarray, np.ndarray]:
        confidence = self.p.max(axis=1)
        return _bin(confidence, BINS), self._right - confidence

    @cached_property
    def _class_gaps(self) -> tuple[np.ndarray, np.ndarray]:
        return _bin(self.p, BINS), (self.y[:, None] == np.arange(self.p.shape[1])) - self.p

    @cached_property
    def _squares(self) -> np.ndarray:
        apart = self.p.astype(np.float64)
        apart[np.arange(self.y.size), self.y] -= 1
        return np.asarray((apart**2).sum(axis=1))

    def accuracy(self, w: np.ndarray | None = None) -> float:
        """Σ_i w_i [ŷ_i = y_i] / Σ_i w_i."""
        return _mean(self._right, w)

    def confusion(self, w: np.ndarray | None = None) -> np.ndarray:
        """Σ_i w_i by true class (rows) and predicted class (columns), (C, C)."""
        return confusion(self.predicted, self.y, self.p.shape[1], w)

    def macro_f1(self, w: np.ndarray | None = None) -> float:
        """1/C Σ_k 2 TP_k / (2 TP_k + FP_k + FN_k) over the classes that occur in the truth."""
        table = self.confusion(w)
        sizes, present = table.sum(axis=1) + table.sum(axis=0), table.sum(axis=1) > 0
        return float((2 * np.diag(table)[present] / sizes[present]).mean()) if present.any() else float("nan")

    def ece(self, w: np.ndarray | None = None) -> float:
        """Σ_b |Σ_{i in b} w_i (right_i - confidence_i)| / Σ_i w_i over 20 bins of confidence."""
        if not self.y.size:
            return float("nan")
        return _binned_gap(*self._gaps, w)

    def class_ece(self, c: int, w: np.ndarray | None = None) -> float:
        """Σ_b |Σ_{i in b} w_i ([y_i = c] - p_ic)| / Σ_i w_i over 20 bins of p_c."""
        place, gaps = self._class_gaps
        return _binned_gap(place[:, c], gaps[:, c], w)

    def precision(self, c: int, w: np.ndarray | None = None) -> float:
        """Σ_i w_i [ŷ_i = y_i = c] / Σ_i w_i [ŷ_i = c]; NaN where no node is predicted as class c."""
        taken = self.predicted == c
        chosen = taken.astype(np.float64)[taken] if w is None else w[taken]
        return float(chosen @ self._right[taken] / chosen.sum()) if chosen.sum() else float("nan")

    def brier(self, w: np.ndarray | None = None) -> float:
        """Σ_i w_i ‖p_i - e_{y_i}‖² / Σ_i w_i."""
        return _mean(self._squares, w)


class RankScores:
    """ROC AUC, average precision, and precision and recall at a threshold or a number, of one class.

    ``scores`` are its probabilities, (M,), and ``positive`` marks the nodes of that class, (M,). Weights as in
    :class:`ClassScores`. scikit-learn has the first two, but sorts the scores anew for every resample.
    """

    def __init__(self, scores: np.ndarray, positive: np.ndarray) -> None:
        self.order = np.argsort(-scores, kind="stable")
        self.falling = -scores[self.order]  # negated, since searchsorted needs rising values
        self.positive = positive[self.order].astype(np.float64)
        self.ends = np.flatnonzero(np.append(np.diff(self.falling) != 0, True))  # last node of each tie

    def _ordered(self, w: np.ndarray | None) -> np.ndarray:
        return np.ones(self.order.size) if w is None else w[self.order]

    def _counts(self, w: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """True and false positives down to each tie, (T,) each."""
        ordered = self._ordered(w)
        hits = np.cumsum(ordered * self.positive)
        return hits[self.ends], (np.cumsum(ordered) - hits)[self.ends]

    def average_precision(self, w: np.ndarray | None = None) -> float:
        """Σ_t (R_t - R_{t-1}) P_t over the thresholds t, highest first."""
        hits, misses = self._counts(w)
        if hits[-1] == 0:
            return float("nan")
        precision = hits / np.maximum(hits + misses, 1e-12)
        return float(np.diff(hits, prepend=0) @ precision / hits[-1])

    def roc_auc(self, w: np.ndarray | None = None) -> float:
        """P(score of a positive > score of a negative) + half the probability of a tie."""
        hits, misses = self._counts(w)
        if hits[-1] == 0 or misses[-1] == 0:
            return float("nan")
        below = misses[-1] - (misses + np.concatenate([[0], misses[:-1]])) / 2
        return float(np.diff(hits, prepend=0) @ below / (hits[-1] * misses[-1]))

    def precision_at(self, k: int, w: np.ndarray | None = None) -> float:
        """The share of positives among the k nodes of highest score."""
        taken = np.minimum(np.cumsum(self._ordered(w)), k)
        return float(np.diff(taken, prepend=0) @ self.positive / max(taken[-1], 1e-12))

    def precision_from(self, t: float, w: np.ndarray | None = None) -> float:
        """The share of positives among the nodes with score ≥ t; NaN where there is none."""
        size = self._flagged(t)
        flagged = self._ordered(w)[:size]
        return float(flagged @ self.positive[:size] / flagged.sum()) if flagged.sum() else float("nan")

    def recall_from(self, t: float, w: np.ndarray | None = None) -> float:
        """The share of the positives that have a score ≥ t."""
        size, ordered = self._flagged(t), self._ordered(w)
        total = ordered @ self.positive
        return float(ordered[:size] @ self.positive[:size] / total) if total else float("nan")

    def _flagged(self, t: float) -> int:
        return int(np.searchsorted(self.falling, -t, side="right"))

    @property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Recall and precision down to each tie, (T,) each."""
        hits, misses = self._counts(None)
        return hits / max(hits[-1], 1e-12), hits / (hits + misses)


def run_metrics(probabilities: np.ndarray, teacher: np.ndarray, graph: Graph, split: Split) -> Metrics:
    """The ``METRICS`` of a result and of its teacher, from their probabilities (N, C); None where no label is known."""
    scores = {
        (name, part): ClassScores(p[nodes], graph.labels[nodes])
        for name, p in (("result", probabilities), ("teacher", teacher))
        for part, nodes in (("test", split.test), ("val", split.val))
    }
    return {name: finite(getattr(scores[who, part], how)()) for name, (who, part, how) in METRICS.items()}


def stage_row(stage: Stage, graph: Graph, split: Split) -> dict[str, Any]:
    """The summary of a stage, the accuracy of its pseudo-labels (precision) and its test accuracy."""
    pseudo, labels = stage.pseudo_labels, graph.labels
    return {
        **stage.summary(),
        "precision": finite(accuracy(pseudo.labels, labels[pseudo.nodes])),
        "test_accuracy": finite(accuracy(stage.final_logits[split.test].argmax(axis=1), labels[split.test])),
    }


def evaluation_nodes(graph: Graph, split: Split) -> tuple[str, np.ndarray]:
    """The test nodes of known label, else such validation nodes, with their name; ("", empty) without either."""
    for name, nodes in (("test", split.test), ("validation", split.val)):
        known = nodes[graph.labels[nodes] >= 0]
        if known.size:
            return name, known
    return "", np.empty(0, dtype=np.int64)


def finite(value: float) -> float | None:
    """``value``, or None for NaN and infinity, which JSON does not have."""
    return float(value) if math.isfinite(value) else None


def _bin(p: np.ndarray, bins: int) -> np.ndarray:
    return np.minimum((p * bins).astype(np.int64), bins - 1)


def _binned_gap(place: np.ndarray, gaps: np.ndarray, w: np.ndarray | None) -> float:
    sums = np.bincount(place, weights=gaps if w is None else w * gaps, minlength=BINS)
    return float(np.abs(sums).sum() / (gaps.size if w is None else w.sum()))


def _mean(values: np.ndarray, w: np.ndarray | None) -> float:
    if not values.size:
        return float("nan")
    return float(values.mean() if w is None else w @ values / w.sum())
