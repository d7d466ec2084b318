"""Paired comparison: two recipes on the same draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

EXACT = 50  # pairs up to which the distribution is enumerated
RESAMPLES = 10_000


@dataclass(frozen=True)
class Comparison:
    """One recipe against another on the draws that both have."""

    pairs: int
    mean: float  # of the differences
    low: float  # 95 % bootstrap interval of that mean
    high: float
    p: float  # of the signed-rank test, two-sided; 1 where no difference is other than 0


def compare(a: Mapping[int, float], b: Mapping[int, float], seed: int = 0) -> Comparison | None:
    """``a`` against ``b``, both draw -> figure; None where they share no draw."""
    shared = sorted(a.keys() & b.keys())
    if not shared:
        return None
    differences = np.array([a[d] - b[d] for d in shared])
    low, high = bootstrap_interval(differences, seed)
    return Comparison(len(shared), float(differences.mean()), low, high, signed_rank(differences))


def signed_rank(differences: np.ndarray) -> float:
    """Wilcoxon: W = Σ_{d_i > 0} rank |d_i|; p = min(1, 2 min(P(W' ≤ W), P(W' ≥ W))) under random signs.

    Differences of 0 are left out, equal ones share their rank. Up to 50 pairs the distribution of W' given these
    ranks is enumerated, so ties do no harm; above, it is taken as normal with that mean and variance.
    """
    d = np.round(differences[np.abs(differences) > 1e-12], 12)  # the same difference of fractions, the same rank
    if not d.size:
        return 1.0
    twice = _double_ranks(np.abs(d))  # whole numbers
    observed = int(twice[d > 0].sum())
    if d.size > EXACT:
        return _normal(observed, twice)
    ways = np.zeros(int(twice.sum()) + 1)
    ways[0] = 1.0
    for rank in twice:  # each sign is + or - with probability ½
        ways[rank:] += ways[: ways.size - rank].copy()
        ways /= 2
    return float(min(1.0, 2 * min(ways[: observed + 1].sum(), ways[observed:].sum())))


def _double_ranks(sizes: np.ndarray) -> np.ndarray:
    """2 · rank, mean ranks for equal sizes."""
    _, place, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (2 * last - counts + 1)[place]


def _normal(observed: int, twice: np.ndarray) -> float:
    mean, spread = twice.sum() / 2, math.sqrt(float((twice.astype(np.float64) ** 2).sum())) / 2
    z = max(0.0, abs(observed - mean) - 1) / spread  # continuity: W moves in steps of 1, 2W in steps of 2
    return math.erfc(z / math.sqrt(2))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm: p̃_(i) = max_{j ≤ i} min(1, (m - j + 1) p_(j)), in the order given."""
    order = np.argsort(p_values, kind="stable")
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def bootstrap_interval(
    values: np.ndarray, seed: int = 0, level: float = 0.95, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Percentile bootstrap of the mean: quantiles of the means of ``resamples`` draws with replacement."""
    means = _times_drawn(values.size, seed, resamples) @ values / values.size
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@lru_cache(maxsize=8)
def _times_drawn(size: int, seed: int, resamples: int) -> np.ndarray:
    """How often each value is in each resample, (resamples, size); the same for all comparisons of so many draws."""
    drawn = np.random.default_rng(seed).integers(0, size, (resamples, size))
    places = drawn + size * np.arange(resamples)[:, None]
    return np.bincount(places.ravel(), minlength=resamples * size).reshape(resamples, size).astype(np.float64)


def mean_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float] | None:
    """m ± t_{n-1} s/√n, Student's interval of a mean; None for fewer than two values."""
    n = len(values)
    if n < 2:
        return None
    half = student_quantile(n - 1, level) * float(np.std(values, ddof=1)) / math.sqrt(n)
    middle = float(np.mean(values))
    return middle - half, middle + half


@lru_cache
def student_quantile(freedom: int, level: float) -> float:
    """t with P(|T| ≤ t) = ``level`` for ν = ``freedom``, by bisection in θ = atan(t/√ν).

    Written out here because SciPy takes longer to import than a table takes to make.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _within(theta: float, freedom: int) -> float:
    """P(|T| ≤ √ν tan θ): a finite sum of powers of cos θ (Abramowitz and Stegun, 26.7.3 and 26.7.4).

    Odd ν: 2/π (θ + sin θ (cos θ + 2/3 cos³ θ + … )), even ν: sin θ (1 + 1/2 cos² θ + 3/8 cos⁴ θ + …), both up to
    the power ν - 2.
    """
    odd = freedom % 2
    cosine = math.cos(theta)
    term, total = (cosine if odd else 1.0), 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    found = math.sin(theta) * total
    return 2 / math.pi * (theta + found) if odd else found
