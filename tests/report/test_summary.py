"""The summary has the figures of the run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drgst.decide.labels.suggest import suggest
from drgst.report.summary import Counts, cards, sentences
from drgst.runs.result import Result


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
    assert str(result.graph.node_ids[suggested.nodes[0]]) in words
    assert next(title for title, _, _ in cards(result)) == "Accuracy on test nodes"


def test_what_is_not_known(result: Result) -> None:
    """Without known labels there is no accuracy and no share of wrong pseudo-labels."""
    words = " ".join(sentences(blind(result), suggest(blind(result), 20)))
    assert "The accuracy is not known" in words
    assert "how many of the pseudo-labels are wrong is not known" in words
    assert [title for title, _, _ in cards(blind(result))] == ["Pseudo-labelled nodes", "Stages"]


def test_a_network_alone(result: Result) -> None:
    """A run without stages has no pseudo-labels."""
    alone = replace(result.history, stages=result.history.stages[:1])
    found = Result.of(result.run, alone, 1.0)
    words = " ".join(sentences(found, suggest(found, 20)))
    assert f"The run ended after the teacher: {alone.stop_reason}." in words
    assert "no student replaced the teacher" in words
