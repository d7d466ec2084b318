"""Paired comparison, against SciPy where SciPy has it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from drgst.lab.statistics.paired import (
    bootstrap_interval,
    compare,
    holm,
    mean_interval,
    signed_rank,
    student_quantile,
)


@pytest.mark.parametrize("n", [5, 10, 25, 50])
def test_signed_rank_is_that_of_scipy_where_nothing_ties(n: int) -> None:
    for seed in range(5):
        d = np.random.default_rng([n, seed]).normal(0.3, 1, n)
        assert signed_rank(d) == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-9)


def test_signed_rank_of_many_pairs_is_near_scipys_approximation() -> None:
    d = np.random.default_rng(0).normal(0.15, 1, 200)
    expected = stats.wilcoxon(d, method="asymptotic", correction=True).pvalue
    assert signed_rank(d) == pytest.approx(expected, rel=1e-6)


def test_signed_rank_with_ties_counts_all_signs() -> None:
    d = np.array([1.0, 1.0, 2.0, -1.0])  # ranks 2, 2, 4, 2: W = 8 of 10
    signs = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1)
    sums = np.array([2, 2, 4, 2]) @ signs
    assert signed_rank(d) == pytest.approx(min(1, 2 * min((sums <= 8).mean(), (sums >= 8).mean())))


def test_equal_differences_of_fractions_tie() -> None:
    """0.701 - 0.7 and 0.301 - 0.3 differ in their last bits only."""
    assert signed_rank(np.array([0.701 - 0.7, -(0.301 - 0.3)])) == 1.0


def test_no_difference_is_no_evidence() -> None:
    assert signed_rank(np.zeros(10)) == 1.0
    assert signed_rank(np.full(10, 0.01)) == pytest.approx(2 / 1024)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_intervals_cover_the_mean_about_as_often_as_they_say() -> None:
    hits = {"t": 0, "bootstrap": 0}
    for seed in range(400):
        rng = np.random.default_rng(seed)
        values = rng.normal(5, 2, 20)
        low, high = mean_interval(list(values)) or (0, 0)
        hits["t"] += low < 5 < high
        low, high = bootstrap_interval(values, seed, resamples=1000)
        hits["bootstrap"] += low < 5 < high
    assert 0.92 < hits["t"] / 400 < 0.98
    assert 0.88 < hits["bootstrap"] / 400 < 0.97  # known to be a little short for 20 values


def test_the_bootstrap_is_that_of_means_of_values_drawn_again() -> None:
    values = np.random.default_rng(1).normal(0, 1, 7)
    means = values[np.random.default_rng(3).integers(0, 7, (500, 7))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    assert bootstrap_interval(values, seed=3, resamples=500) == pytest.approx((low, high))
    assert bootstrap_interval(2 * values, seed=3, resamples=500) == pytest.approx((2 * low, 2 * high))  # drawn once


def test_mean_interval_is_students() -> None:
    values = [0.7, 0.72, 0.69, 0.75]
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert mean_interval(values) == pytest.approx(expected)
    assert mean_interval([0.7]) is None


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 49, 1000, 1001])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.95, 0.999])
def test_students_quantile_is_that_of_scipy(freedom: int, level: float) -> None:
    assert student_quantile(freedom, level) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-9)


def test_compare_takes_the_draws_that_both_have() -> None:
    found = compare({0: 0.8, 1: 0.7, 5: 0.9}, {0: 0.7, 1: 0.7, 2: 0.1})
    assert found is not None
    assert (found.pairs, found.mean) == (2, pytest.approx(0.05))
    assert found.low <= found.mean <= found.high
    assert compare({0: 1.0}, {1: 1.0}) is None
