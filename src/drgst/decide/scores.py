"""Evaluation figures of weighted nodes, and their bootstrap intervals.

Each figure is a function of whole weights w, (M,), one per node: all ones for the figure itself, the counts of a
bootstrap resample for its interval. What does not depend on w is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Weighted = Callable[[np.ndarray], float]
RESAMPLES = 500
BINS = 20  # of the ECE


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % bootstrap interval; NaN where it is not defined."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


class ClassScores:
    """Accuracy, macro-F1, ECE and Brier score of probabilities p, (M, C), with truth y, (M,)."""

    def __init__(self, p: np.ndarray, y: np.ndarray) -> None:
        self.y, self.predicted = y, p.argmax(axis=1)
        self.classes = p.shape[1]
        self.confidence = p.max(axis=1)
        self.right = (self.predicted == y).astype(np.float64)
        self.bins = np.minimum((self.confidence * BINS).astype(np.int64), BINS - 1)
        apart = p.astype(np.float64).copy()
        apart[np.arange(y.size), y] -= 1
        self.squares = (apart**2).sum(axis=1)

    def accuracy(self, w: np.ndarray) -> float:
        """Σ_i w_i [ŷ_i = y_i] / Σ_i w_i."""
        return float(w @ self.right / w.sum())

    def confusion(self, w: np.ndarray) -> np.ndarray:
        """Σ_i w_i by true class (rows) and predicted class (columns), (C, C)."""
        places = self.y * self.classes + self.predicted
        return np.bincount(places, weights=w, minlength=self.classes**2).reshape(self.classes, self.classes)

    def macro_f1(self, w: np.ndarray) -> float:
        """1/C Σ_k 2 TP_k / (2 TP_k + FP_k + FN_k) over the classes that occur in the truth."""
        table = self.confusion(w)
        sizes, present = table.sum(axis=1) + table.sum(axis=0), table.sum(axis=1) > 0
        return float((2 * np.diag(table)[present] / sizes[present]).mean())

    def ece(self, w: np.ndarray) -> float:
        """Σ_b |Σ_{i in b} w_i (right_i - confidence_i)| / Σ_i w_i over 20 bins of confidence."""
        gaps = np.bincount(self.bins, weights=w * (self.right - self.confidence), minlength=BINS)
        return float(np.abs(gaps).sum() / w.sum())

    def brier(self, w: np.ndarray) -> float:
        """Σ_i w_i ‖p_i - e_{y_i}‖² / Σ_i w_i."""
        return float(w @ self.squares / w.sum())


class RankScores:
    """ROC AUC, average precision, and precision and recall at a threshold or a number, of one class.

    ``scores`` are its probabilities, (M,), and ``positive`` marks the nodes of that class, (M,).
    """

    def __init__(self, scores: np.ndarray, positive: np.ndarray) -> None:
        self.order = np.argsort(-scores, kind="stable")
        self.scores = scores[self.order]
        self.positive = positive[self.order].astype(np.float64)
        self.ends = np.flatnonzero(np.append(np.diff(self.scores) != 0, True))  # last node of each tie

    def _counts(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """True and false positives down to each tie, (T,) each."""
        ordered = w[self.order]
        hits = np.cumsum(ordered * self.positive)
        return hits[self.ends], (np.cumsum(ordered) - hits)[self.ends]

    def average_precision(self, w: np.ndarray) -> float:
        """Σ_t (R_t - R_{t-1}) P_t over the thresholds t, highest first."""
        hits, misses = self._counts(w)
        if hits[-1] == 0:
            return float("nan")
        precision = hits / np.maximum(hits + misses, 1e-12)
        return float(np.diff(hits, prepend=0) @ precision / hits[-1])

    def roc_auc(self, w: np.ndarray) -> float:
        """P(score of a positive > score of a negative) + half the probability of a tie."""
        hits, misses = self._counts(w)
        if hits[-1] == 0 or misses[-1] == 0:
            return float("nan")
        below = misses[-1] - (misses + np.concatenate([[0], misses[:-1]])) / 2
        return float(np.diff(hits, prepend=0) @ below / (hits[-1] * misses[-1]))

    def precision_at(self, k: int) -> Weighted:
        """The share of positives among the k nodes of highest score."""

        def figure(w: np.ndarray) -> float:
            ordered = w[self.order]
            taken = np.minimum(np.cumsum(ordered), k)
            return float(np.diff(taken, prepend=0) @ self.positive / max(taken[-1], 1e-12))

        return figure

    def at_threshold(self, t: float) -> tuple[Weighted, Weighted]:
        """Precision and recall of the nodes with score ≥ t."""
        size = int(np.searchsorted(-self.scores, -t, side="right"))

        def precision(w: np.ndarray) -> float:
            ordered = w[self.order][:size]
            return float(ordered @ self.positive[:size] / ordered.sum()) if ordered.sum() else float("nan")

        def recall(w: np.ndarray) -> float:
            ordered = w[self.order]
            total = ordered @ self.positive
            return float(ordered[:size] @ self.positive[:size] / total) if total else float("nan")

        return precision, recall

    @cached_property
    def curve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Recall, precision and false positive rate down to each tie, (T,) each."""
        hits, misses = self._counts(np.ones(self.order.size))
        return hits / max(hits[-1], 1e-12), hits / (hits + misses), misses / max(misses[-1], 1e-12)


def bootstrap(figures: Mapping[str, Weighted], nodes: int, seed: int = 0) -> dict[str, Estimate]:
    """Each figure with the 2.5 % and 97.5 % quantiles of 500 resamples of the nodes with replacement."""
    rng = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {name: [] for name in figures}
    for _ in range(RESAMPLES):
        w = np.bincount(rng.integers(0, nodes, nodes), minlength=nodes).astype(np.float64)
        for name, figure in figures.items():
            drawn[name].append(figure(w))
    ones = np.ones(nodes)
    return {name: _estimate(figure(ones), np.array(drawn[name])) for name, figure in figures.items()}


def _estimate(value: float, drawn: np.ndarray) -> Estimate:
    known = drawn[np.isfinite(drawn)]
    low, high = np.quantile(known, [0.025, 0.975]) if known.size else (np.nan, np.nan)
    return Estimate(value, float(low), float(high))
