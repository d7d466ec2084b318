"""Metrics against figures that are worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.runs.metrics import accuracy, brier_score, calibration_error, macro_f1, run_metrics, stage_rows
from drgst.runs.result import Result

P = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
TRUTH = np.array([0, 1, 1, -1])


def test_nodes_without_a_label_do_not_count() -> None:
    """Of three known nodes two are right; ECE and Brier score over the same three."""
    assert accuracy(P.argmax(axis=1), TRUTH) == pytest.approx(2 / 3)
    assert calibration_error(P, TRUTH) == pytest.approx((0.1 + 0.8 + 0.3) / 3)
    assert brier_score(P, TRUTH) == pytest.approx((0.02 + 1.28 + 0.18) / 3)
    unknown = np.full(4, -1)
    for value in (accuracy(P.argmax(axis=1), unknown), calibration_error(P, unknown), brier_score(P, unknown)):
        assert np.isnan(value)


def test_macro_f1_is_that_of_scikit_learn() -> None:
    """Over the classes that occur in the truth."""
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 4, 200), rng.integers(0, 5, 200)
    expected = f1_score(truth, predicted, labels=range(4), average="macro")
    assert macro_f1(predicted, truth, 5) == pytest.approx(expected)


def test_metrics_of_a_run_and_its_teacher() -> None:
    """Test nodes for all of them, validation nodes for the accuracy; None where no label is known."""
    graph = make_graph(np.eye(4), np.zeros((4, 4)), TRUTH, class_names=["a", "b"])
    empty = np.empty(0, dtype=np.int64)
    split = Split(np.array([0]), np.array([2]), np.array([1]), empty)
    found = run_metrics(P, P[:, ::-1], graph, split)
    assert (found["test_accuracy"], found["teacher_test_accuracy"]) == (0, 1)
    assert (found["val_accuracy"], found["teacher_val_accuracy"]) == (1, 0)
    assert found["ece"] == pytest.approx(0.8)
    assert found["teacher_ece"] == pytest.approx(0.2)
    assert set(run_metrics(P, P, graph, Split(np.array([0]), empty, empty, empty)).values()) == {None}


def test_rows_of_the_stages(result: Result) -> None:
    """Precision is the accuracy of the pseudo-labels; the teacher has none."""
    rows = stage_rows(result.history, result.graph, result.split)
    assert [row["stage"] for row in rows] == [0, 1, 2]
    assert rows[0]["precision"] is None
    pseudo = result.history[1].pseudo_labels
    assert rows[1]["precision"] == (pseudo.labels == result.graph.labels[pseudo.nodes]).mean()
    assert rows[result.stage.number]["test_accuracy"] == result.metrics["test_accuracy"]
