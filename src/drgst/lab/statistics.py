"""Statistics of runs: Student's interval, paired comparison, rank correlation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

FEWEST = 5  # draws for an interval or a test in a table: no test of four pairs is significant at 5 %
RHO_RESAMPLES, BLOCK = 500, 50  # of the bootstrap of ρ, and how many are ranked at a time, so that memory stays small


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """m ± t_{n-1} s/√n, Student's 95 % interval of a mean; None for fewer than two values."""
    n = len(values)
    if n < 2:
        return None
    half = student_quantile(n - 1, 0.95) * float(np.std(values, ddof=1)) / math.sqrt(n)
    middle = float(np.mean(values))
    return middle - half, middle + half


@lru_cache
def student_quantile(freedom: float, level: float) -> float:
    """t with P(|T| ≤ t) = ``level`` for ``freedom`` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


@dataclass(frozen=True)
class Comparison:
    """One recipe against another on the draws that both have."""

    pairs: int
    mean: float  # of the differences
    low: float | None  # Student's 95 % interval of that mean; None for fewer than FEWEST pairs
    high: float | None
    p: float | None  # of the signed-rank test, two-sided; 1 where all differences are 0; None for fewer than FEWEST


def compare(a: Mapping[int, float], b: Mapping[int, float]) -> Comparison | None:
    """``a`` against ``b``, both draw -> figure; None where they share no draw."""
    shared = sorted(a.keys() & b.keys())
    if not shared:
        return None
    differences = np.array([a[d] - b[d] for d in shared])
    enough = len(shared) >= FEWEST
    low, high = (mean_interval(differences.tolist()) if enough else None) or (None, None)
    return Comparison(len(shared), float(differences.mean()), low, high, signed_rank(differences) if enough else None)


def signed_rank(differences: np.ndarray) -> float:
    """Wilcoxon's two-sided p: W = Σ_{d_i > 0} rank |d_i|, differences of 0 left out, equal ones share their rank.

    Under random signs, 2W has the distribution of Π_i (1 + x^{2 rank_i}) / 2, which is exact also with ties.
    """
    from scipy.stats import rankdata

    d = np.round(differences[np.abs(differences) > 1e-12], 12)  # the same difference of fractions, the same rank
    if not d.size:
        return 1.0
    ranks, share = (2 * rankdata(np.abs(d))).astype(int), np.ones(1)
    for rank in ranks:
        share = (np.pad(share, (0, rank)) + np.pad(share, (rank, 0))) / 2
    w = int(ranks[d > 0].sum())
    return float(min(1.0, 2 * min(share[: w + 1].sum(), share[w:].sum())))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm: p̃_(i) = max_{j ≤ i} min(1, (m - j + 1) p_(j)), in the order given."""
    order = np.argsort(p_values, kind="stable")
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted


@dataclass(frozen=True)
class Correlation:
    """ρ, its 95 % bootstrap interval, and the number of pairs."""

    rho: float
    low: float
    high: float
    pairs: int

    def __str__(self) -> str:
        return f"{self.rho:+.2f} ({self.low:+.2f} to {self.high:+.2f})"


def spearman(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """ρ = corr(rank x, rank y) along the last axis, equal values sharing their rank; NaN where a side is constant."""
    from scipy.stats import rankdata

    a, b = (rankdata(v, axis=-1) for v in (x, y))
    a, b = (v - v.mean(axis=-1, keepdims=True) for v in (a, b))
    scale = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (a * b).sum(axis=-1) / scale


def rank_correlation(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Correlation | None:
    """Spearman's ρ of ``x`` and ``y``, (M,), with the percentile bootstrap over pairs; None where there is no ρ.

    The interval treats pairs as independent. Neighbours in a graph are not, so it is somewhat narrow.
    """
    rho = float(spearman(x, y)) if x.size > 2 else float("nan")
    if np.isnan(rho):
        return None
    drawn = []
    for _ in range(0, RHO_RESAMPLES, BLOCK):
        pick = rng.integers(0, x.size, (BLOCK, x.size))
        drawn.append(spearman(x[pick], y[pick]))
    low, high = np.nanquantile(np.concatenate(drawn), [0.025, 0.975])
    return Correlation(rho, float(low), float(high), int(x.size))
