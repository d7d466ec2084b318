"""The accuracy expected from further labels: a learning curve from parts of the given labels, extrapolated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.errors import RunError
from drgst.graph.split import rank_within_class
from drgst.runs.metrics import accuracy
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History, result_stage
from drgst.selftrain.problem import FEWEST_MEASURED
from drgst.selftrain.slots.postprocess import fold_problem, never_held_out
from drgst.threads import limit_threads

MORE = (20, 50, 100)  # further labels
SHARES = (0.25, 0.5, 0.75)  # of the labels that a fit is given
REPEATS = 3  # of each share
PRIOR_MEAN, PRIOR_DEVIATION = (0.2, 0.5), (0.2, 0.3)  # of a and b: curves of random labels in experiment 022
QUANTILE = 1.645  # of the normal distribution, for a 90 % interval
PAYS = 0.01  # expected gain of the last of ``MORE`` below which labels stop paying
FEWEST = 12  # labels for a forecast


@dataclass(frozen=True)
class Fit:
    """One fit to a part of the labels: how many it was given, how many others it was tested on, and its errors."""

    labels: int
    tried: int
    errors: int


@dataclass(frozen=True)
class Forecast:
    """The expected rise of accuracy by further random labels, each with a 90 % interval, as fractions."""

    labels: int  # given now
    error: float  # expected now
    gains: dict[int, tuple[float, float, float]]  # further labels -> mean, low, high
    fits: tuple[Fit, ...]
    alone: int = 0  # labels that are the only ones of their class, so that no fit is tried on them

    @property
    def pays(self) -> bool:
        """Whether the largest number of further labels is expected to bring a point or more."""
        return self.gains[max(self.gains)][0] >= PAYS

    def sentences(self) -> list[str]:
        """The forecast in words."""
        lines = [
            f"With {self.labels:,} labels the expected accuracy is {1 - self.error:.0%}. More random labels bring:"
        ]
        for more, (mean, low, high) in self.gains.items():
            lines.append(
                f"  {more:>4} more: {100 * mean:+.1f} points (90 % interval {100 * low:+.1f} to {100 * high:+.1f})"
            )
        most = max(self.gains)
        end = "" if self.pays else f"Labels stop paying here: {most} more are expected to bring less than a point."
        tried = sum(fit.tried for fit in self.fits)
        how = f"From {len(self.fits)} fits to a quarter, half and three quarters of the labels, tested on the others"
        return [*lines, *([end] if end else []), f"{how} ({tried:,} predictions{never_held_out(self.alone)})."]

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        gains = [{"labels": more, "gain": g, "low": low, "high": high} for more, (g, low, high) in self.gains.items()]
        return {"labels": self.labels, "accuracy": 1 - self.error, "gains": gains, "pays": self.pays}


def forecast(result: Result, more: tuple[int, ...] = MORE, seed: int = 0) -> Forecast:
    """err(m) = a + b / √m, fitted to the errors of runs on parts of the labels, at the number of labels + m.

    Each run is given a stratified share of the labels and tested on those of the others that are a sample: labels that
    were asked for do not measure accuracy. a and b have a normal prior (:func:`power_law`), since a dozen labels hardly
    determine b.
    """
    run, rng = result.run, np.random.default_rng(seed)
    train, labels = run.split.train, run.problem.graph.labels
    if train.size < FEWEST:
        raise RunError(f"a forecast needs {FEWEST} training labels or more, and the run has {train.size}")
    if result.sampled.sum() < FEWEST_MEASURED:
        raise RunError(
            f"a forecast needs {FEWEST_MEASURED} labels of a random sample, and the run has "
            f"{int(result.sampled.sum())}: accuracy on labels that were asked for can be far too high; label 10 to 20 "
            "random nodes first (drgst suggest RUN --by random)"
        )
    tested = np.zeros(run.graph.num_nodes, dtype=bool)
    tested[train[result.sampled]] = True
    fits = []
    for _ in range(REPEATS):
        order = rng.permutation(train)
        rank = rank_within_class(labels[order])
        counts = np.bincount(labels[order], minlength=run.graph.num_classes)[labels[order]]
        for share in SHARES:
            inside = rank < np.maximum(1, np.floor(share * counts))
            others = order[~inside]
            fits.append(_fit(run, order[inside], others[tested[others]]))
    usable = tuple(fit for fit in fits if fit.tried)
    if not usable:
        raise RunError("a forecast needs two labels or more of a class, and every class has one")
    alone = int((np.bincount(labels[train])[labels[train]] == 1).sum())
    return extrapolate(usable, train.size, more, alone)


def extrapolate(fits: tuple[Fit, ...], labels: int, more: tuple[int, ...], alone: int = 0) -> Forecast:
    """The forecast from the fits, at ``labels`` and ``more`` beyond; ``alone`` labels are never tried."""
    m, n = np.array([fit.labels for fit in fits]), np.array([fit.tried for fit in fits], dtype=np.float64)
    rates = np.array([fit.errors for fit in fits]) / n
    n *= min(1.0, len(SHARES) * (labels - alone) / n.sum())  # a label that is tried several times counts once per share
    mean, deviation = power_law(m, rates, n)
    gains = {}
    for further in more:
        step = 1 / np.sqrt(labels) - 1 / np.sqrt(labels + further)
        low, high = (max(0.0, float(step * (mean[1] + z * deviation))) for z in (-QUANTILE, QUANTILE))
        gains[further] = (max(0.0, float(step * mean[1])), low, high)
    error = float(np.clip(max(mean[0], 0) + mean[1] / np.sqrt(labels), 0, 1))  # never below what labels are to bring
    return Forecast(labels, error, gains, fits, alone)


def power_law(m: np.ndarray, rates: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, float]:
    """Posterior mean of (a, b), (2,), and deviation of b for r_k ~ N(a + b / √m_k, r̄ (1 - r̄) / n_k), (K,) each."""
    rate = (n @ rates + 1) / (n.sum() + 2)  # no variance of 0 where every prediction is right
    x = np.stack([np.ones(m.size), 1 / np.sqrt(m)], axis=1)
    weight = n / (rate * (1 - rate))
    precision = (x * weight[:, None]).T @ x + np.diag(1 / np.square(PRIOR_DEVIATION))
    covariance = np.linalg.inv(precision)
    mean = covariance @ (x.T @ (weight * rates) + np.asarray(PRIOR_MEAN) / np.square(PRIOR_DEVIATION))
    return mean, float(np.sqrt(covariance[1, 1]))


def _fit(run: Run, train: np.ndarray, others: np.ndarray) -> Fit:
    """The run with the labels of ``train`` alone, without postprocessing, tried on ``others``."""
    problem, recipe = run.problem, run.recipe.with_parts(postprocess=())
    part = fold_problem(problem, ~np.isin(problem.split.train, train))
    with limit_threads(int(run.config.threads or 1)):
        stage = result_stage(self_train(part, recipe, history=History()), problem.settings.keep)
    right = accuracy(stage.probabilities[others].argmax(axis=1), problem.graph.labels[others])
    return Fit(train.size, others.size, round((1 - right) * others.size) if others.size else 0)
