"""Shift and calibration of the stages of a page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from drgst.report.stages import calibration, confidence_distance, histogram, shares, shift_of, total_variation
from drgst.runs.result import Result


def test_shares_leave_out_the_unknown() -> None:
    """Two of class 0 and one of class 2 among three known labels."""
    np.testing.assert_allclose(shares(np.array([0, 0, 2, -1]), 3), [2 / 3, 0, 1 / 3])
    assert shares(np.array([-1]), 3) is None


def test_total_variation() -> None:
    """½(|½ - ¼| + |½ - ¾|) = ¼; equal shares 0; disjoint ones 1; an empty side is not known."""
    p = np.array([0.5, 0.5])
    assert total_variation(p, np.array([0.25, 0.75])) == pytest.approx(0.25)
    assert total_variation(p, p) == 0
    assert total_variation(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1
    assert total_variation(None, p) is None


def test_confidence_distance_is_the_mean_difference() -> None:
    """Moved by 0.1, the distance is 0.1."""
    a = np.array([0.2, 0.5, 0.7])
    assert confidence_distance(a, a + 0.1) == pytest.approx(0.1)
    assert confidence_distance(a, np.empty(0)) is None


def test_histogram_counts_all() -> None:
    """1 lies in the last bin, 0 in the first."""
    bins = histogram(np.array([0.0, 1.0]))
    assert bins is not None
    assert (bins[0], bins[-1], sum(bins)) == (0.5, 0.5, 1.0)
    assert histogram(np.empty(0)) is None


def test_shift_of_a_stage(result: Result) -> None:
    """The teacher has no pseudo-labels; the shares of a student are those of its pseudo-labels."""
    teacher = shift_of(result.history[0], result.graph, result.split)
    assert teacher["shares"]["pseudo_labelled"] is None
    assert teacher["class_distance"]["pseudo_labelled-all"] is None
    student = result.history[1]
    shift = shift_of(student, result.graph, result.split)
    expected = np.bincount(student.pseudo_labels.labels, minlength=3) / student.pseudo_labels.labels.size
    np.testing.assert_allclose(shift["shares"]["pseudo_labelled"], expected, atol=1e-5)
    assert 0 <= shift["class_distance"]["pseudo_labelled-all"] <= 1


def test_calibration_before_and_after(result: Result) -> None:
    """A run without calibration is shown with a fitted temperature."""
    stage, graph, split = result.stage, result.graph, result.split
    plain = calibration(stage, graph, split)
    assert plain is not None
    assert "the run did not use it" in plain["how"]
    own = calibration(replace(stage, calibrated=stage.logits * 3), graph, split)
    assert own is not None
    assert own["how"] == "after the run's own calibration"
    assert own["before"] == plain["before"]
    assert own["after"]["mean_confidence"] > own["before"]["mean_confidence"]
