"""Rank correlation with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

RESAMPLES = 500
BLOCK = 50  # resamples ranked at a time, so that memory stays small


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
    a, b = (rankdata(v, axis=-1) for v in (x, y))
    a, b = (v - v.mean(axis=-1, keepdims=True) for v in (a, b))
    scale = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (a * b).sum(axis=-1) / scale


def rank_correlation(
    x: np.ndarray, y: np.ndarray, rng: np.random.Generator, resamples: int = RESAMPLES
) -> Correlation | None:
    """Spearman's ρ of ``x`` and ``y``, (M,), with the percentile bootstrap over pairs; None where there is no ρ.

    The interval takes pairs as independent. Neighbours in a graph are not, so it is on the narrow side.
    """
    rho = float(spearman(x, y)) if x.size > 2 else float("nan")
    if np.isnan(rho):
        return None
    drawn = []
    for start in range(0, resamples, BLOCK):
        pick = rng.integers(0, x.size, (min(BLOCK, resamples - start), x.size))
        drawn.append(spearman(x[pick], y[pick]))
    low, high = np.nanquantile(np.concatenate(drawn), [0.025, 0.975])
    return Correlation(rho, float(low), float(high), int(x.size))
