"""Out-of-fold log-probabilities: balanced folds, no label used for its own node, and the comparison by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from drgst.selftrain.learners.multiview.crossfit import (
    TEMPERATURES,
    critical_value,
    folds,
    label_log_probs,
    out_of_fold,
    t_statistic,
)
from drgst.selftrain.learners.multiview.regression import SoftmaxRegression


def test_folds_are_balanced_in_every_class() -> None:
    labels = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [5, 12, 23]))
    fold = folds(labels)
    assert set(fold) == set(range(5))
    for c in range(3):
        counts = np.bincount(fold[labels == c], minlength=5)
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize(("counts", "wanted"), [([2, 9], 2), ([3, 3, 4], 3), ([0, 4, 9], 4), ([20, 20], 5)])
def test_as_many_folds_as_the_smallest_class_has_nodes(counts: list[int], wanted: int) -> None:
    assert folds(np.repeat(np.arange(len(counts)), counts)).max() + 1 == wanted


def test_the_label_of_a_node_is_not_used_for_it() -> None:
    """Two nodes of one fold swap labels: their log p stays the same, that of the others does not."""
    rng = np.random.default_rng(1)
    labels = np.arange(12) % 3
    nodes = rng.permutation(30)[:12]
    rows = rng.normal(size=(30, 4)).astype(np.float32)[nodes]
    fold = folds(labels)
    mine = np.flatnonzero(fold == 0)
    swapped = labels.copy()
    swapped[mine] = np.roll(labels[mine], 1)
    assert (swapped != labels).any()
    np.testing.assert_array_equal(folds(swapped), fold)
    before, after = (out_of_fold(rows, y, SoftmaxRegression(3, 1e-2)) for y in (labels, swapped))
    np.testing.assert_array_equal(before[mine], after[mine])
    others = np.setdiff1d(np.arange(12), mine)
    assert np.abs(before[others] - after[others]).max() > 1e-3


def test_separable_classes_are_predicted_out_of_fold() -> None:
    labels = np.arange(15) % 3
    log_p = out_of_fold(np.eye(3, dtype=np.float32)[labels], labels, SoftmaxRegression(3, 1e-3))
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1)
    assert (log_p.argmax(axis=1) == labels).all()


def test_label_log_probs_by_hand() -> None:
    """Right in half the cases: the highest temperature; always right: the lowest."""
    z = np.log(np.array([[0.9, 0.1], [0.9, 0.1]]))
    right = label_log_probs(z, np.array([0, 0]))
    low = 1 / (1 + 9 ** (-1 / TEMPERATURES[0]))
    np.testing.assert_allclose(np.exp(right), low)
    half = label_log_probs(z, np.array([0, 1]))
    high = 1 / (1 + 9 ** (-1 / TEMPERATURES[-1]))
    np.testing.assert_allclose(np.exp(half), [high, 1 - high])


def test_label_log_probs_do_not_depend_on_the_scale_of_log_p() -> None:
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    z[np.arange(40), labels] += 1
    ratio = TEMPERATURES[1] / TEMPERATURES[0]
    np.testing.assert_allclose(label_log_probs(z, labels).sum(), label_log_probs(z * ratio, labels).sum(), rtol=1e-6)


def test_t_statistic_by_hand() -> None:
    """Gains 1, 2, 3: mean 2, standard deviation 1, standard error 1/√3."""
    base, gains = np.array([0.5, -1.0, 4.0]), np.array([1, 2, 3])
    assert t_statistic(base + gains, base) == pytest.approx(2 * np.sqrt(3))
    assert t_statistic(base, base + gains) == pytest.approx(-2 * np.sqrt(3))
    assert t_statistic(base, base) == 0
    assert t_statistic(base[:1] + 1, base[:1]) == 0


def test_the_critical_value_is_the_quantile_of_students_t() -> None:
    assert scipy.stats.t.sf(critical_value(30, 0.025), 29) == pytest.approx(0.025)
    assert critical_value(10, 0.001) > critical_value(1_000, 0.001) > critical_value(1_000, 0.025) > 1.95
