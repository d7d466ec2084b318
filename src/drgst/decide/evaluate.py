"""Evaluation of a finished run against labels that it was not given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from drgst.errors import RunError
from drgst.files import plain
from drgst.runs.metrics import ClassScores, RankScores
from drgst.runs.result import Result

Weighted = Callable[[np.ndarray | None], float]
RESAMPLES = 500
FIGURES = ("accuracy", "macro_f1", "ece", "brier")  # methods of ClassScores
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
DEPTHS = (10, 50, 100, 200, 500, 1000)  # numbers of nodes at which precision is measured


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % bootstrap interval; NaN where it is not defined."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class ThresholdRow:
    """The nodes whose probability is at least ``threshold``."""

    threshold: float
    flagged: int
    stated: float  # mean probability of the flagged nodes
    precision: Estimate
    recall: Estimate


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Figures with 95 % bootstrap intervals over the nodes."""

    class_names: tuple[str, ...]
    positive: str | None  # the class of the ranking figures
    probabilities: np.ndarray  # (M, C) of the nodes evaluated
    truth: np.ndarray  # (M,)
    figures: dict[str, Estimate]
    thresholds: tuple[ThresholdRow, ...]
    confusion: np.ndarray  # (C, C) by true class (rows) and predicted class (columns)

    @property
    def ranking(self) -> RankScores:
        """The ranking of the nodes by the probability of the positive class."""
        assert self.positive is not None
        c = self.class_names.index(self.positive)
        return RankScores(self.probabilities[:, c], self.truth == c)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [
            {
                "threshold": row.threshold,
                "flagged": row.flagged,
                "stated": row.stated,
                "precision": vars(row.precision),
                "recall": vars(row.recall),
            }
            for row in self.thresholds
        ]
        found: dict[str, Any] = {
            "nodes": int(self.truth.size),
            "classes": list(self.class_names),
            "positive": self.positive,
            "figures": {name: vars(estimate) for name, estimate in self.figures.items()},
            "thresholds": rows,
            "confusion": self.confusion.astype(int).tolist(),
        }
        return dict(plain(found))


def evaluate(
    probabilities: np.ndarray, truth: np.ndarray, class_names: tuple[str, ...], positive: str | None = None
) -> Evaluation:
    """Evaluate probabilities, (M, C), with truth, (M,), both of nodes whose labels the run was not given.

    ``positive`` is the class of ROC AUC, average precision, precision at k and thresholds; of two classes the rarer one
    in the truth where it is not given, and none of more classes.
    """
    if not truth.size:
        raise RunError("there is no node with a known label that the run was not given, so nothing can be evaluated")
    if positive is None and len(class_names) == 2:
        positive = class_names[int(np.bincount(truth, minlength=2).argmin())]
    by_class = ClassScores(probabilities, truth)
    figures: dict[str, Weighted] = {name: getattr(by_class, name) for name in FIGURES}
    rows: list[tuple[float, int, float]] = []
    if positive is not None:
        c = class_names.index(positive)
        ranks, p = RankScores(probabilities[:, c], truth == c), probabilities[:, c]
        figures |= {"average_precision": ranks.average_precision, "roc_auc": ranks.roc_auc}
        figures |= {f"precision_at_{k}": partial(ranks.precision_at, k) for k in DEPTHS if k <= truth.size / 2}
        for t in THRESHOLDS:
            flagged = p >= t
            rows.append((t, int(flagged.sum()), float(p[flagged].mean()) if flagged.any() else float("nan")))
            figures |= {
                f"{t} precision": partial(ranks.precision_from, t),
                f"{t} recall": partial(ranks.recall_from, t),
            }
    found = bootstrap(figures, truth.size)
    table = [ThresholdRow(*row, found.pop(f"{row[0]} precision"), found.pop(f"{row[0]} recall")) for row in rows]
    return Evaluation(class_names, positive, probabilities, truth, found, tuple(table), by_class.confusion())


def bootstrap(figures: Mapping[str, Weighted], nodes: int, seed: int = 0) -> dict[str, Estimate]:
    """Each figure with the 2.5 % and 97.5 % quantiles of 500 resamples of the nodes with replacement."""
    rng = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {name: [] for name in figures}
    for _ in range(RESAMPLES):
        w = np.bincount(rng.integers(0, nodes, nodes), minlength=nodes).astype(np.float64)
        for name, figure in figures.items():
            drawn[name].append(figure(w))
    return {name: _estimate(figure(None), np.array(drawn[name])) for name, figure in figures.items()}


def _estimate(value: float, drawn: np.ndarray) -> Estimate:
    known = drawn[np.isfinite(drawn)]
    low, high = np.quantile(known, [0.025, 0.975]) if known.size else (np.nan, np.nan)
    return Estimate(value, float(low), float(high))


def evaluate_result(result: Result, labels: np.ndarray, positive: str | None = None) -> Evaluation:
    """The evaluation of a run with labels, (N,), -1 where unknown; nodes whose label the run was given are left out."""
    nodes = result.unlabelled[labels[result.unlabelled] >= 0]
    return evaluate(result.probabilities[nodes], labels[nodes], result.model.class_names, positive)
