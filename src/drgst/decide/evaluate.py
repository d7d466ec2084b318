"""Evaluation of a finished run against labels that it was not given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any

import numpy as np

from drgst.errors import RunError
from drgst.files import plain
from drgst.graph.html import html_table, text_table
from drgst.runs.metrics import ClassScores, RankScores
from drgst.runs.result import Result

Weighted = Callable[[np.ndarray | None], float]
RESAMPLES = 500
FIGURES = ("accuracy", "macro_f1", "ece", "brier")  # methods of ClassScores
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
TITLES = {
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "roc_auc": "ROC AUC of {}",
    "average_precision": "average precision of {}",
    "ece": "calibration error of the predicted class (ECE)",
    "brier": "Brier score",
}
NOTABLE = 0.05  # difference of a stated and a true share that a sentence points out
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


@dataclass(frozen=True)
class ClassCalibration:
    """What the run states about one class, and what is true."""

    label: str
    predicted: int  # nodes of which it is the predicted class
    stated: float  # mean probability of the class at these nodes
    right: Estimate  # share of these nodes that are of the class
    ece: Estimate  # gap between stated and true share over bins of its probability, all nodes

    def notes(self) -> list[str]:
        """A sentence where the stated share is not within the interval of the true one, and by more than 5 points."""
        gap = self.stated - self.right.value
        if not abs(gap) > NOTABLE or self.right.low <= self.stated <= self.right.high:
            return []
        return [
            f"probabilities of {self.label} are too {'high' if gap > 0 else 'low'}: {self.stated:.0%} is stated on "
            f"average for the nodes predicted {self.label}, and {self.right.value:.0%} of them are right"
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Figures with 95 % bootstrap intervals over the nodes."""

    class_names: tuple[str, ...]
    positive: str | None  # the class of the ranking figures
    probabilities: np.ndarray  # (M, C) of the nodes evaluated
    truth: np.ndarray  # (M,)
    figures: dict[str, Estimate]
    calibration: tuple[ClassCalibration, ...]  # the positive class first
    thresholds: tuple[ThresholdRow, ...]
    confusion: np.ndarray  # (C, C) by true class (rows) and predicted class (columns)

    @property
    def ranking(self) -> RankScores:
        """The ranking of the nodes by the probability of the positive class."""
        assert self.positive is not None
        c = self.class_names.index(self.positive)
        return RankScores(self.probabilities[:, c], self.truth == c)

    def titled(self) -> list[tuple[str, Estimate]]:
        """The figures by their names for people."""
        names = [*(n for n in TITLES if n in self.figures), *(n for n in self.figures if n not in TITLES)]
        words = (TITLES.get(n, n.replace("_", " ").replace("precision at", "precision at top")) for n in names)
        return [(w.format(self.positive), self.figures[n]) for n, w in zip(names, words, strict=True)]

    def __repr__(self) -> str:
        return f"{self._title()}\n{text_table([(name, str(value)) for name, value in self.titled()], left=(0, 1))}"

    def _repr_html_(self) -> str:
        rows = [(name, f"{v.value:.3f}", f"{v.low:.3f} to {v.high:.3f}") for name, v in self.titled()]
        return html_table(self._title(), ("", "", "95 % interval"), rows)

    def _title(self) -> str:
        return f"{self.truth.size:,} nodes whose labels the run was not given"

    def calibration_rows(self) -> list[tuple[Any, ...]]:
        """The calibration of each class as rows of a CSV file, the header first."""
        header = ("class", "predicted", "stated", "right", "right_low", "right_high", "ece", "ece_low", "ece_high")
        rows = [(c.label, c.predicted, c.stated, *astuple(c.right), *astuple(c.ece)) for c in self.calibration]
        return [header, *(tuple(None if v != v else v for v in row) for row in rows)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found: dict[str, Any] = {
            "nodes": int(self.truth.size),
            "classes": list(self.class_names),
            "positive": self.positive,
            "figures": self.figures,
            "calibration": self.calibration,
            "thresholds": self.thresholds,
            "confusion": self.confusion.astype(int).tolist(),
        }
        return dict(plain(found))


def evaluate(
    probabilities: np.ndarray, truth: np.ndarray, class_names: tuple[str, ...], positive: str | None = None
) -> Evaluation:
    """Evaluate probabilities, (M, C), with truth, (M,), both of nodes whose labels the run was not given.

    ``positive`` is the class of ROC AUC, average precision, precision at k and thresholds; where it is not given, that
    of :func:`rarer_class`.
    """
    if not truth.size:
        message = "the run was given every known label, so nothing can be evaluated; name a table of others (--truth)"
        raise RunError(f"{message} or choose a threshold without them (--target, --top)")
    if positive is None:
        positive = rarer_class(probabilities, truth, class_names)
    by_class = ClassScores(probabilities, truth)
    figures: dict[str, Weighted] = {name: getattr(by_class, name) for name in FIGURES}
    for k in range(len(class_names)):
        figures |= {f"{k} right": partial(by_class.precision, k), f"{k} ece": partial(by_class.class_ece, k)}
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
    calibration = []
    for k in sorted(range(len(class_names)), key=lambda k: class_names[k] != positive):
        stated = probabilities[by_class.predicted == k, k]
        mean = float(stated.mean()) if stated.size else float("nan")
        estimates = found.pop(f"{k} right"), found.pop(f"{k} ece")
        calibration.append(ClassCalibration(class_names[k], stated.size, mean, *estimates))
    return Evaluation(
        class_names, positive, probabilities, truth, found, tuple(calibration), tuple(table), by_class.confusion()
    )


def rarer_class(probabilities: np.ndarray, truth: np.ndarray, class_names: tuple[str, ...]) -> str | None:
    """Of two classes the one that is rarer in ``truth``, or by the sum of ``probabilities`` where both are as frequent.

    The probabilities follow the class shares that the user has stated. None of more classes.
    """
    if len(class_names) != 2:
        return None
    first, second = np.bincount(truth, minlength=2)
    return class_names[int(first > second if first != second else probabilities.sum(axis=0).argmin())]


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


@dataclass(frozen=True)
class GroupRow:
    """The figures of the nodes of one period or group."""

    group: str
    nodes: int
    share: float | None  # of the positive class in the truth
    figures: dict[str, Estimate]


def evaluate_groups(result: Result, labels: np.ndarray, groups: np.ndarray, positive: str | None) -> list[GroupRow]:
    """Accuracy, ECE and, for a positive class, average precision of each group, in order of its name."""
    nodes = result.unlabelled[labels[result.unlabelled] >= 0]
    rows = []
    for group in sorted(set(groups[nodes].tolist())):
        inside = nodes[groups[nodes] == group]
        p, truth = result.probabilities[inside], labels[inside]
        scores = ClassScores(p, truth)
        figures: dict[str, Weighted] = {"accuracy": scores.accuracy, "ece": scores.ece}
        share = None
        if positive is not None:
            c = result.model.class_names.index(positive)
            share = float((truth == c).mean())
            figures["average_precision"] = partial(RankScores(p[:, c], truth == c).average_precision)
        rows.append(GroupRow(str(group), inside.size, share, bootstrap(figures, inside.size)))
    return rows
