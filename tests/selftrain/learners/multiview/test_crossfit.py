"""What known labels say of a view: fair folds, no node that sees itself, and the comparison by hand."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.selftrain.learners.multiview.crossfit import HEATS, best_log_probs, folds, out_of_fold, t_statistic


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


def test_no_node_sees_its_own_label() -> None:
    """Two nodes of one fold swap labels: what is said of them stays the same, what is said of the others does not."""
    rng = np.random.default_rng(1)
    labels = np.arange(12) % 3
    nodes = rng.permutation(30)[:12]
    lens = (rng.normal(size=(30, 4))).astype(np.float32)
    fold = folds(labels)
    mine = np.flatnonzero(fold == 0)
    swapped = labels.copy()
    swapped[mine] = np.roll(labels[mine], 1)
    assert (swapped != labels).any()
    np.testing.assert_array_equal(folds(swapped), fold)
    before, after = (out_of_fold(lens, nodes, y, 3, 1e-2) for y in (labels, swapped))
    np.testing.assert_array_equal(before[mine], after[mine])
    others = np.setdiff1d(np.arange(12), mine)
    assert np.abs(before[others] - after[others]).max() > 1e-3


def test_cross_fitted_foretells_separable_classes() -> None:
    labels = np.arange(15) % 3
    lens = np.eye(3, dtype=np.float32)[labels]
    log_p = out_of_fold(lens, np.arange(15), labels, 3, 1e-3)
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1)
    assert (log_p.argmax(axis=1) == labels).all()


def test_foretold_by_hand() -> None:
    """A reader that is as often wrong as right is read at its coolest, one that is always right at its surest."""
    z = np.log(np.array([[0.9, 0.1], [0.9, 0.1]]))
    right = best_log_probs(z, np.array([0, 0]))
    sure = 1 / (1 + 9 ** (-1 / HEATS[0]))
    np.testing.assert_allclose(np.exp(right), sure)
    torn = best_log_probs(z, np.array([0, 1]))
    cool = 1 / (1 + 9 ** (-1 / HEATS[-1]))
    np.testing.assert_allclose(np.exp(torn), [cool, 1 - cool])


def test_foretold_does_not_mind_the_scale_of_the_readers_words() -> None:
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    z[np.arange(40), labels] += 1
    ratio = HEATS[1] / HEATS[0]
    np.testing.assert_allclose(best_log_probs(z, labels).sum(), best_log_probs(z * ratio, labels).sum(), rtol=1e-6)


def test_lead_by_hand() -> None:
    """Gains 1, 2, 3: mean 2, standard deviation 1, standard error 1/√3."""
    base, gains = np.array([0.5, -1.0, 4.0]), np.array([1, 2, 3])
    assert t_statistic(base + gains, base) == pytest.approx(2 * np.sqrt(3))
    assert t_statistic(base, base + gains) == pytest.approx(-2 * np.sqrt(3))
    assert t_statistic(base, base) == 0
    assert t_statistic(base[:1] + 1, base[:1]) == 0
