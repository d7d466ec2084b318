"""Weighted evaluation figures against scikit-learn, and bootstrap intervals against known errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from drgst.decide.scores import ClassScores, RankScores, bootstrap
from drgst.runs.metrics import brier_score, calibration_error, macro_f1

RNG = np.random.default_rng(0)
P = RNG.dirichlet([1, 1, 2], size=300).round(2) + 1e-9  # rounded, so that there are ties
Y = RNG.integers(0, 3, 300)
COUNTS = np.bincount(RNG.integers(0, 300, 300), minlength=300).astype(float)


@pytest.mark.parametrize("w", [np.ones(300), COUNTS], ids=["plain", "resampled"])
def test_ranking_figures_are_those_of_scikit_learn(w: np.ndarray) -> None:
    ranks = RankScores(P[:, 1], Y == 1)
    given = {"sample_weight": w}
    assert ranks.roc_auc(w) == pytest.approx(metrics.roc_auc_score(Y == 1, P[:, 1], **given))
    assert ranks.average_precision(w) == pytest.approx(metrics.average_precision_score(Y == 1, P[:, 1], **given))
    precision, recall = ranks.at_threshold(0.3)
    flagged = P[:, 1] >= 0.3
    assert precision(w) == pytest.approx(metrics.precision_score(Y == 1, flagged, **given))
    assert recall(w) == pytest.approx(metrics.recall_score(Y == 1, flagged, **given))


@pytest.mark.parametrize("w", [np.ones(300), COUNTS], ids=["plain", "resampled"])
def test_class_figures_are_those_of_repeated_rows(w: np.ndarray) -> None:
    rows = np.repeat(np.arange(300), w.astype(int))
    scores = ClassScores(P, Y)
    assert scores.accuracy(w) == pytest.approx(metrics.accuracy_score(Y[rows], P[rows].argmax(axis=1)))
    assert scores.macro_f1(w) == pytest.approx(macro_f1(P[rows].argmax(axis=1), Y[rows], 3))
    assert scores.ece(w) == pytest.approx(calibration_error(P[rows], Y[rows]))
    assert scores.brier(w) == pytest.approx(brier_score(P[rows], Y[rows]))
    np.testing.assert_array_equal(scores.confusion(w), metrics.confusion_matrix(Y[rows], P[rows].argmax(axis=1)))


def test_precision_at_k_takes_the_highest_scores() -> None:
    ranks = RankScores(np.array([0.9, 0.1, 0.8, 0.7]), np.array([True, True, False, True]))
    ones = np.ones(4)
    assert [ranks.precision_at(k)(ones) for k in (1, 2, 3, 4)] == pytest.approx([1, 1 / 2, 2 / 3, 3 / 4])
    assert ranks.precision_at(2)(np.array([2.0, 1, 1, 1])) == 1


def test_intervals_have_the_width_of_the_standard_error() -> None:
    right = np.random.default_rng(1).random(400) < 0.8
    found = bootstrap({"share": lambda w: float(w @ right / w.sum())}, 400)["share"]
    half = 1.96 * np.sqrt(found.value * (1 - found.value) / 400)
    assert found.high - found.value == pytest.approx(half, rel=0.25)
    assert found.value - found.low == pytest.approx(half, rel=0.25)


def test_figures_that_do_not_exist_are_nan() -> None:
    found = bootstrap({"auc": RankScores(P[:, 0], np.zeros(300, dtype=bool)).roc_auc}, 300)["auc"]
    assert np.isnan([found.value, found.low, found.high]).all()
