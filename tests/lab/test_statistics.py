"""Statistics, against SciPy where SciPy has them."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import spearmanr

from drgst.lab.statistics import compare, holm, mean_interval, rank_correlation, signed_rank, spearman


def test_signed_rank_is_the_exact_one_where_nothing_ties() -> None:
    for n in (5, 10, 40):
        d = np.random.default_rng(n).normal(0.3, 1, n)
        assert signed_rank(d) == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, abs=1e-9)


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


def test_mean_interval_is_students() -> None:
    values = [0.7, 0.72, 0.69, 0.75]
    expected = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert mean_interval(values) == pytest.approx(expected)
    assert mean_interval([0.7]) is None


def test_compare_takes_the_draws_that_both_have() -> None:
    found = compare({0: 0.8, 1: 0.7, 5: 0.9}, {0: 0.7, 1: 0.7, 2: 0.1})
    assert (found.pairs, found.mean) == (2, pytest.approx(0.05))
    assert (found.low, found.high, found.p) == (None, None, None)  # two pairs tell nothing
    five = compare({d: 0.7 + d / 100 for d in range(5)}, dict.fromkeys(range(5), 0.7))
    assert (five.low, five.high) == pytest.approx(mean_interval([0, 0.01, 0.02, 0.03, 0.04]))
    assert compare({0: 1.0}, {1: 1.0}) is None


def test_rho_is_scipys_also_with_ties() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 60), rng.normal(size=60)
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_the_interval_holds_rho_and_narrows_with_more_pairs() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    y = -x + rng.normal(size=2000)
    few, many = (rank_correlation(x[:n], y[:n], np.random.default_rng(0)) for n in (50, 2000))
    assert many.low < many.rho < many.high < 0
    assert many.high - many.low < few.high - few.low
    assert many == rank_correlation(x, y, np.random.default_rng(0))


@pytest.mark.parametrize("x", [np.ones(10), np.array([1.0, 2.0])])
def test_no_rho_for_a_constant_or_two_pairs(x: np.ndarray) -> None:
    assert rank_correlation(x, np.arange(x.size), np.random.default_rng(0)) is None
