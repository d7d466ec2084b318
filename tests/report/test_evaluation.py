"""Intervals, confusion and reliability against figures worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from drgst.report.evaluation import calibration, confusion, evaluation_nodes, reliability, wilson
from drgst.runs.result import Result


def test_wilson() -> None:
    """8 of 10: 0.490 to 0.943 (Brown, Cai, DasGupta 2001); all of them: up to 1, and not from 1."""
    low, high = wilson(8, 10)
    assert (low, high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    low, high = wilson(20, 20)
    assert high == pytest.approx(1)
    assert low < 0.9


def test_confusion_has_true_rows() -> None:
    """Nodes of unknown label are left out."""
    assert confusion(np.array([0, 0, 1, -1]), np.array([0, 1, 1, 0]), 2) == [[1, 1], [0, 1]]
    assert confusion(np.array([-1]), np.array([0]), 2) is None


def test_reliability() -> None:
    """Two nodes of confidence 60 % and 95 %, the first wrong: |0 - 0.6|/2 + |1 - 0.95|/2."""
    p = np.array([[0.6, 0.4], [0.05, 0.95]])
    made = reliability(p, np.array([1, 1]))
    assert made["ece"] == pytest.approx(0.325)
    assert sum(made["count"]) == 2
    assert made["mean_accuracy"] == 0.5
    assert made["accuracy"][12] == 0


def test_evaluation_is_on_test_nodes_else_on_validation_nodes(result: Result) -> None:
    """Without known test labels it is on the validation nodes; without both there is none."""
    graph, split = result.graph, result.split
    assert evaluation_nodes(graph, split)[0] == "test"
    hidden = graph.labels.copy()
    hidden[split.test] = -1
    assert evaluation_nodes(graph.with_(labels=hidden), split)[0] == "validation"
    assert evaluation_nodes(graph.with_(labels=hidden), split.without_validation())[0] == ""


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
