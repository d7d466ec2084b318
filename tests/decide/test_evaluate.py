"""Bootstrap intervals against known errors."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.decide.evaluate import bootstrap, evaluate, rarer_class
from drgst.runs.metrics import RankScores


def test_intervals_have_the_width_of_the_standard_error() -> None:
    right = np.random.default_rng(1).random(400) < 0.8
    found = bootstrap({"share": lambda w: float(np.average(right, weights=w))}, 400)["share"]
    half = 1.96 * np.sqrt(found.value * (1 - found.value) / 400)
    assert found.high - found.value == pytest.approx(half, rel=0.25)
    assert found.value - found.low == pytest.approx(half, rel=0.25)


def test_figures_that_do_not_exist_are_nan() -> None:
    found = bootstrap({"auc": RankScores(np.arange(300.0), np.zeros(300, dtype=bool)).roc_auc}, 300)["auc"]
    assert np.isnan([found.value, found.low, found.high]).all()


def test_calibration_per_class_shows_what_the_top_label_hides() -> None:
    """1,000 nodes: 940 are surely a; 60 are said to be b with 0.6, and a third of them are."""
    p = np.repeat([[0.99, 0.01], [0.4, 0.6]], [940, 60], axis=0)
    truth = np.repeat([0, 1, 0], [940, 20, 40])
    found = evaluate(p, truth, ("a", "b"))
    assert found.positive == "b"
    first, second = found.calibration
    assert (first.label, first.predicted, second.predicted) == ("b", 60, 940)
    assert first.stated == pytest.approx(0.6)
    assert first.right.value == pytest.approx(1 / 3)
    assert first.notes() == [
        "probabilities of b are too high: 60% is stated on average for the nodes predicted b, and 33% of them are right"
    ]
    assert second.notes() == []
    assert first.right.low < first.right.value < first.right.high
    assert first.ece.value == pytest.approx((940 * 0.01 + 60 * (0.6 - 1 / 3)) / 1000)
    assert found.figures["ece"].value == pytest.approx(first.ece.value)  # of two classes they are the same
    assert found.to_dict()["calibration"][0]["right"]["value"] == pytest.approx(1 / 3)


def test_a_class_that_is_never_predicted_has_no_precision() -> None:
    found = evaluate(np.tile([0.6, 0.3, 0.1], (30, 1)), np.arange(30) % 3, ("a", "b", "c"), "c")
    assert [one.label for one in found.calibration] == ["c", "a", "b"]
    assert np.isnan(found.calibration[0].right.value)
    assert found.calibration[0].ece.value == pytest.approx(1 / 3 - 0.1)
    assert found.calibration_rows()[1][3] is None


def test_the_rarer_class_by_truth_then_by_predictions() -> None:
    p = np.array([[0.2, 0.8], [0.3, 0.7]])
    assert rarer_class(p, np.array([1, 1, 0]), ("a", "b")) == "a"
    assert rarer_class(p, np.array([0, 0, 1]), ("a", "b")) == "b"
    assert rarer_class(p, np.array([0, 1]), ("a", "b")) == "a"
    assert rarer_class(1 - p, np.array([], dtype=int), ("a", "b")) == "b"
    assert rarer_class(p, np.array([], dtype=int), ("a", "b", "c")) is None
