"""The cards and the table of stages of the page."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.decide.labels.suggest import suggest
from drgst.graph.relation import Relation
from drgst.report.stages import calibration, confidence_distance, histogram, shares, shift_of, total_variation
from drgst.report.summary import Counts, cards, sentences
from drgst.runs.config import RunConfig
from drgst.runs.result import Result
from drgst.runs.run import Run


def blind(result: Result) -> Result:
    """The same run where only training labels are known, and without validation."""
    run = result.run
    labels = np.full(result.graph.num_nodes, -1)
    labels[run.split.train] = result.graph.labels[run.split.train]
    problem = replace(run.problem, split=run.split.without_validation())
    return Result.of(replace(run, graph=result.graph.with_(labels=labels), problem=problem), result.history, 1.0)


def test_figures_are_those_of_the_run(result: Result) -> None:
    """Correct predictions and wrong pseudo-labels, counted again here."""
    split, labels, stage = result.split, result.graph.labels, result.stage
    right = int((stage.predictions[split.test] == labels[split.test]).sum())
    counts = Counts.of(result)
    assert (counts.evaluated_on, counts.correct, counts.nodes) == ("test", right, split.test.size)
    wrong = int((labels[stage.pseudo_labels.nodes] != stage.pseudo_labels.labels).sum())
    assert (counts.pseudo_labels, counts.wrong) == (stage.pseudo_labels.nodes.size, wrong)
    suggested = suggest(result, 20)
    words = " ".join(sentences(result, suggested))
    assert f"{right / split.test.size:.1%} on {split.test.size:,} test nodes" in words
    assert f"{wrong:,} ({wrong / stage.pseudo_labels.nodes.size:.1%}) were wrong" in words
    assert result.history.stop_reason in words
    first = ", ".join(str(result.graph.node_ids[u]) for u in suggested.nodes[:3])
    assert f"To label next: {first} and {suggested.nodes.size - 3} more. " in words
    assert next(title for title, _, _ in cards(result)) == "Accuracy on test nodes"


def test_what_is_not_known(result: Result) -> None:
    """Without known labels there is no accuracy and no share of wrong pseudo-labels."""
    words = " ".join(sentences(blind(result), suggest(blind(result), 20)))
    assert "the accuracy is unknown" in words
    assert "how many of the pseudo-labels are wrong is unknown" in words
    assert [title for title, _, _ in cards(blind(result))] == ["Pseudo-labelled nodes", "Stages"]


def test_a_network_alone(result: Result) -> None:
    """A run without stages has no pseudo-labels."""
    alone = replace(result.history, stages=result.history.stages[:1])
    found = Result.of(result.run, alone, 1.0)
    words = " ".join(sentences(found, suggest(found, 20)))
    assert f"The run ended after the teacher: {alone.stop_reason}." in words
    assert "no student replaced the teacher" in words


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
    assert "the run did not use it" in plain["how"]
    own = calibration(replace(stage, calibrated=stage.logits * 3), graph, split)
    assert own["how"] == "after the run's own calibration"
    assert own["before"] == plain["before"]
    assert own["after"]["mean_confidence"] > own["before"]["mean_confidence"]


@pytest.mark.parametrize(("recipe", "words"), [("drgst-plus", "weight: "), ("gcn", "weight as edges: ")])
def test_weights_of_relations_are_said(world: Any, recipe: str, words: str) -> None:
    graph, split = world.graph, world.split
    device = np.arange(graph.num_nodes) // 4
    b = sp.csr_array((np.ones(device.size), (np.arange(device.size), device)))
    settings = {"epochs": 2} if recipe == "gcn" else {}
    run = Run.of(
        graph.with_(relations=(Relation.of("device", b),)), RunConfig(recipe=recipe, seed=0, settings=settings), split
    )
    assert f"Relations by {words}" in " ".join(sentences(run.execute(), None))
