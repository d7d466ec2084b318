"""Spearman's ρ and its interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from drgst.lab.statistics.correlation import rank_correlation, spearman


def test_rho_is_scipys_also_with_ties() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 60), rng.normal(size=60)
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_rows_are_taken_one_by_one() -> None:
    x = np.array([[1, 2, 3], [1, 2, 3]])
    assert spearman(x, np.array([[4, 5, 6], [6, 5, 4]])).tolist() == pytest.approx([1, -1])


def test_the_interval_holds_rho_and_narrows_with_more_pairs() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    y = -x + rng.normal(size=2000)
    few, many = (rank_correlation(x[:n], y[:n], np.random.default_rng(0)) for n in (50, 2000))
    assert few is not None
    assert many is not None
    assert many.low < many.rho < many.high < 0
    assert many.high - many.low < few.high - few.low
    assert many == rank_correlation(x, y, np.random.default_rng(0))


@pytest.mark.parametrize("x", [np.ones(10), np.array([1.0, 2.0])])
def test_no_rho_for_a_constant_or_two_pairs(x: np.ndarray) -> None:
    assert rank_correlation(x, np.arange(x.size), np.random.default_rng(0)) is None
