"""Which nodes to act on: a threshold for a target precision or recall, or a number of nodes, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from drgst.errors import SettingError
from drgst.runs.result import Result
from drgst.uncertainty.calibration import HIGHEST, LOWEST, PRIOR_STD

DRAWS = 300
GRID = 157  # temperatures from 0.02 to 50, each 5 % above the one before
CURVE = 60  # numbers of nodes at which :func:`expected_curve` is computed
ITERATIONS = 30  # of the bisection for a shift: an interval of 120 becomes 1e-7


@dataclass(frozen=True)
class Goal:
    """One of three targets: a precision, a recall, or a number of nodes."""

    precision: float | None = None
    recall: float | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        given = [name for name, value in vars(self).items() if value is not None]
        if len(given) != 1:
            raise SettingError("give one of target precision, target recall and top")
        for name in ("precision", "recall"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= 1:
                raise SettingError(f"the target {name} is {value:g}, but must lie between 0 and 1")
        if self.top is not None and self.top < 1:
            raise SettingError(f"top is {self.top}, but must be at least 1")


@dataclass(frozen=True)
class Interval:
    """An expected share with its 90 % interval."""

    expected: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.expected:.2f} (90% interval {self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Decision:
    """The nodes to act on: those whose probability of the class is at least ``threshold``."""

    threshold: float
    flagged: int
    precision: Interval
    recall: Interval
    sure: float | None  # probability that the target is met; None for a number of nodes
    safe: int | None  # number of nodes with which it is met with a probability of 95 %; None: no number, or no target
    labels: int  # out-of-fold labels behind the intervals


def choose_threshold(
    p: np.ndarray, goal: Goal, oof: tuple[np.ndarray, np.ndarray] | None = None, seed: int = 0
) -> Decision:
    """The threshold on the probabilities ``p`` of one class, (N,), that is expected to reach the goal.

    Expected precision of the k nodes of highest p is their mean p, expected recall their sum over the sum of all p.
    ``oof`` are out-of-fold probabilities of the class, (M,), and whether each label is that class, (M,). 300 times a
    temperature T is drawn from its posterior given them, p becomes σ(logit p / T + b) with b such that its mean stays,
    and the true positives are drawn from it: the intervals cover both the uncertainty of the calibration and chance.
    """
    order = np.argsort(-p, kind="stable")
    total = np.cumsum(p[order])
    k = _size(total, goal)
    threshold, flagged = float(p[order[k - 1]]), order[:k]
    drawn = _draws(p, flagged, oof, np.random.default_rng(seed))
    precision, recall = (
        Interval(float(value), *map(float, np.quantile(each, [0.05, 0.95])))
        for value, each in zip((total[k - 1] / k, total[k - 1] / total[-1]), drawn.T, strict=True)
    )
    sure = None
    if goal.top is None:
        target, column = (goal.precision, 0) if goal.precision is not None else (goal.recall, 1)
        sure = float((drawn[:, column] >= target).mean())
    safe = None if goal.top is not None else _safe(p, goal, oof, seed)
    return Decision(threshold, k, precision, recall, sure, safe, 0 if oof is None else oof[0].size)


def _size(total: np.ndarray, goal: Goal) -> int:
    """How many nodes of highest p to take."""
    if goal.top is not None:
        return min(goal.top, total.size)
    if goal.recall is not None:
        return int(np.searchsorted(total, min(goal.recall, 1) * total[-1] * (1 - 1e-12)) + 1)
    means = total / np.arange(1, total.size + 1)
    enough = np.flatnonzero(means >= float(goal.precision or 0))
    if not enough.size:
        raise SettingError(
            f"no threshold is expected to reach a precision of {goal.precision:g}: the highest probability is "
            f"{means[0]:.2f}"
        )
    return int(enough[-1] + 1)


def _safe(p: np.ndarray, goal: Goal, oof: tuple[np.ndarray, np.ndarray] | None, seed: int) -> int | None:
    """The most nodes whose precision, or the fewest whose recall, meets the target in 95 % of the draws."""
    sizes, precision, recall = expected_curve(p, oof, seed)
    if goal.precision is not None:
        met = sizes[precision[:, 1] >= goal.precision][::-1]
    else:
        met = sizes[recall[:, 1] >= float(goal.recall or 0)]
    return int(met[0]) if met.size else None


def _draws(
    p: np.ndarray, flagged: np.ndarray, oof: tuple[np.ndarray, np.ndarray] | None, rng: np.random.Generator
) -> np.ndarray:
    """Precision and recall of the flagged nodes, (R, 2), in each draw."""
    z = logit(np.clip(p, 1e-12, 1 - 1e-12))
    rest = np.ones(p.size, dtype=bool)
    rest[flagged] = False
    temperatures = np.ones(DRAWS) if oof is None else _temperatures(*oof, rng)
    found = np.empty((DRAWS, 2))
    for temperature in np.unique(temperatures).tolist():
        q = p if oof is None else _recalibrated(z / temperature, p.mean())
        for r in np.flatnonzero(temperatures == temperature):
            hits = _drawn(q[flagged], rng)
            found[r] = hits / flagged.size, hits / max(hits + _drawn(q[rest], rng), 1e-12)
    return found


def _temperatures(oof: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """T from exp(-Σ_i loss_i(T) - (log T)² / 2σ²), (R,): the posterior given out-of-fold probabilities of labels."""
    z = logit(np.clip(oof, 1e-12, 1 - 1e-12)) * np.where(labels, 1, -1)
    grid = np.linspace(np.log(LOWEST), np.log(HIGHEST), GRID)
    log_posterior = -np.logaddexp(0, -z / np.exp(grid)[:, None]).sum(axis=1) - grid**2 / (2 * PRIOR_STD**2)
    weights = np.exp(log_posterior - log_posterior.max())
    return np.exp(rng.choice(grid, DRAWS, p=weights / weights.sum()))


def _recalibrated(z: np.ndarray, mean: float, weights: np.ndarray | None = None) -> np.ndarray:
    """σ(z + b) with the b that keeps the mean, which ``weights`` may weigh, (N,)."""
    low, high = -60.0, 60.0
    for _ in range(ITERATIONS):
        middle = (low + high) / 2
        q = expit(z + middle)
        low, high = (middle, high) if (q.mean() if weights is None else q @ weights) < mean else (low, middle)
    return np.asarray(expit(z + low))


def _drawn(q: np.ndarray, rng: np.random.Generator) -> float:
    """The number of positives among nodes with probabilities q: normal with their mean and variance, within 0 and n."""
    noise = rng.normal() * np.sqrt((q * (1 - q)).sum())
    return float(np.clip(q.sum() + noise, 0, q.size))


def decide(result: Result, positive: str, goal: Goal) -> tuple[Decision, np.ndarray]:
    """The decision for class ``positive`` on the unlabelled nodes of a run, and these nodes, likeliest first."""
    c, rest = result.model.class_names.index(positive), result.unlabelled
    if not rest.size:
        raise SettingError("every node of the run was given a label, so there is none to flag")
    p = result.probabilities[rest, c].astype(np.float64)
    oof = result.out_of_fold
    rows = result.measured
    known = (
        (oof[rows, c].astype(np.float64), result.train_labels[rows] == c) if oof is not None and rows.any() else None
    )
    decision = choose_threshold(p, goal, known, result.model.seed)
    return decision, rest[np.argsort(-p, kind="stable")[: decision.flagged]]


def expected_curve(
    p: np.ndarray, oof: tuple[np.ndarray, np.ndarray] | None = None, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers k of nodes of highest ``p``, (K,), with expected precision and recall at each, (K, 3): mean, low, high.

    The draws are those of :func:`choose_threshold`, for all k at once and on at most 4,000 quantiles of p, (N,).
    """
    rng, n = np.random.default_rng(seed), p.size
    sizes = np.unique(np.geomspace(1, n, min(n, CURVE)).round().astype(np.int64))
    down = np.sort(p)[::-1]
    total = np.cumsum(down)
    some = np.unique(np.concatenate([sizes, np.linspace(1, n, min(n, 4000)).round().astype(np.int64)]))
    width = np.diff(some, prepend=0)  # nodes that each quantile stands for
    q = np.diff(total[some - 1], prepend=0.0) / width
    z = logit(np.clip(q, 1e-12, 1 - 1e-12))
    at = np.searchsorted(some, sizes)
    temperatures = np.ones(DRAWS) if oof is None or not oof[0].size else _temperatures(*oof, rng)
    drawn = np.empty((DRAWS, sizes.size, 2))
    for temperature in np.unique(temperatures).tolist():
        each = q if temperature == 1 else _recalibrated(z / temperature, float(q @ width) / n, width / n)
        mean, variance = np.cumsum(width * each), np.cumsum(width * each * (1 - each))
        for r in np.flatnonzero(temperatures == temperature):
            inside = np.clip(mean[at] + rng.normal() * np.sqrt(variance[at]), 0, sizes)
            outside = mean[-1] - mean[at] + rng.normal() * np.sqrt(np.maximum(variance[-1] - variance[at], 0))
            drawn[r] = np.stack([inside / sizes, inside / np.maximum(inside + np.maximum(outside, 0), 1e-12)], axis=1)
    low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
    means = np.stack([total[sizes - 1] / sizes, total[sizes - 1] / max(total[-1], 1e-12)], axis=1)
    precision, recall = (np.stack([means[:, j], low[:, j], high[:, j]], axis=1) for j in (0, 1))
    return sizes, precision, recall
