"""Metrics against scikit-learn and against figures that are worked out by hand."""

import numpy as np
import pytest
from sklearn import metrics

from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.runs.metrics import (
    ClassScores,
    RankScores,
    accuracy,
    confusion,
    evaluation_nodes,
    reliability,
    run_metrics,
    wilson,
)
from drgst.runs.result import Result

P = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
TRUTH = np.array([0, 1, 1, -1])
RNG = np.random.default_rng(0)
MANY = RNG.dirichlet([1, 1, 2], size=300).round(2) + 1e-9  # rounded, so that there are ties
Y = RNG.integers(0, 3, 300)
COUNTS = np.bincount(RNG.integers(0, 300, 300), minlength=300).astype(float)


def test_nodes_without_a_label_do_not_count() -> None:
    """Of three known nodes two are right; ECE and Brier score over the same three."""
    scores = ClassScores(P, TRUTH)
    assert accuracy(P.argmax(axis=1), TRUTH) == scores.accuracy() == pytest.approx(2 / 3)
    assert scores.ece() == pytest.approx((0.1 + 0.8 + 0.3) / 3)
    assert scores.brier() == pytest.approx((0.02 + 1.28 + 0.18) / 3)
    none = ClassScores(P, np.full(4, -1))
    assert np.isnan([none.accuracy(), none.macro_f1(), none.ece(), none.brier()]).all()
    assert np.isnan(accuracy(P.argmax(axis=1), np.full(4, -1)))


@pytest.mark.parametrize("w", [None, COUNTS], ids=["plain", "resampled"])
def test_class_figures_are_those_of_repeated_rows(w: np.ndarray | None) -> None:
    rows = np.repeat(np.arange(300), 1 if w is None else w.astype(int))
    scores, again = ClassScores(MANY, Y), ClassScores(MANY[rows], Y[rows])
    truth, predicted = Y[rows], MANY[rows].argmax(axis=1)
    assert scores.accuracy(w) == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert scores.macro_f1(w) == pytest.approx(metrics.f1_score(truth, predicted, average="macro"))
    assert scores.ece(w) == pytest.approx(again.ece())
    assert scores.brier(w) == pytest.approx(np.square(MANY[rows] - np.eye(3)[truth]).sum(axis=1).mean())
    np.testing.assert_array_equal(scores.confusion(w), metrics.confusion_matrix(truth, predicted))


def test_macro_f1_is_over_the_classes_of_the_truth() -> None:
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 4, 200), rng.integers(0, 5, 200)
    expected = metrics.f1_score(truth, predicted, labels=range(4), average="macro")
    assert ClassScores(np.eye(5)[predicted], truth).macro_f1() == pytest.approx(expected)


@pytest.mark.parametrize("w", [None, COUNTS], ids=["plain", "resampled"])
def test_ranking_figures_are_those_of_scikit_learn(w: np.ndarray | None) -> None:
    ranks, p = RankScores(MANY[:, 1], Y == 1), MANY[:, 1]
    assert ranks.roc_auc(w) == pytest.approx(metrics.roc_auc_score(Y == 1, p, sample_weight=w))
    assert ranks.average_precision(w) == pytest.approx(metrics.average_precision_score(Y == 1, p, sample_weight=w))
    assert ranks.precision_from(0.3, w) == pytest.approx(metrics.precision_score(Y == 1, p >= 0.3, sample_weight=w))
    assert ranks.recall_from(0.3, w) == pytest.approx(metrics.recall_score(Y == 1, p >= 0.3, sample_weight=w))


def test_precision_at_k_takes_the_highest_scores() -> None:
    ranks = RankScores(np.array([0.9, 0.1, 0.8, 0.7]), np.array([True, True, False, True]))
    assert [ranks.precision_at(k) for k in (1, 2, 3, 4)] == pytest.approx([1, 1 / 2, 2 / 3, 3 / 4])
    assert ranks.precision_at(2, np.array([2.0, 1, 1, 1])) == 1


def test_wilson() -> None:
    """8 of 10: 0.490 to 0.943 (Brown, Cai, DasGupta 2001); all of them: up to 1, and not from 1."""
    low, high = wilson(8, 10)
    assert (low, high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    low, high = wilson(20, 20)
    assert high == pytest.approx(1)
    assert low < 0.9


def test_confusion_has_true_rows() -> None:
    """Nodes of unknown label are left out."""
    assert confusion(np.array([0, 1, 1, 0]), np.array([0, 0, 1, -1]), 2).tolist() == [[1, 1], [0, 1]]


def test_reliability() -> None:
    """Two nodes of confidence 60 % and 95 %, the first wrong."""
    count, stated, true = reliability(np.array([0.6, 0.95]), np.array([False, True]))
    assert (count.sum(), count[12], count[19]) == (2, 1, 1)
    assert (stated[12], true[12], true[19]) == (pytest.approx(0.6), 0, 1)


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
    rows = result.rows()
    assert [row["stage"] for row in rows] == [0, 1, 2]
    assert rows[0]["precision"] is None
    pseudo = result.history[1].pseudo_labels
    assert rows[1]["precision"] == (pseudo.labels == result.graph.labels[pseudo.nodes]).mean()
    assert rows[result.stage.number]["test_accuracy"] == result.metrics["test_accuracy"]


def test_evaluation_is_on_test_nodes_else_on_validation_nodes(result: Result) -> None:
    """Without known test labels it is on the validation nodes; without both there is none."""
    graph, split = result.graph, result.split
    assert evaluation_nodes(graph, split)[0] == "test"
    hidden = graph.labels.copy()
    hidden[split.test] = -1
    assert evaluation_nodes(graph.with_(labels=hidden), split)[0] == "validation"
    assert evaluation_nodes(graph.with_(labels=hidden), split.without_validation())[0] == ""
