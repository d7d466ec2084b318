"""The run in words says what is so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drgst.report.explorer.words import cards, hits, pseudo_labels, sentences
from drgst.runs.result import Result


def blind(result: Result) -> Result:
    """The same run where only training labels are known, and without validation."""
    run = result.run
    labels = np.full(result.graph.num_nodes, -1)
    labels[run.split.train] = result.graph.labels[run.split.train]
    problem = replace(run.problem, split=run.split.without_validation())
    return Result.of(replace(run, graph=result.graph.with_(labels=labels), problem=problem), result.history, 1.0)


def test_figures_are_those_of_the_run(result: Result) -> None:
    """Right ones, trusted ones and wrong ones, counted again here."""
    split, labels, stage = result.split, result.graph.labels, result.stage
    right = int((stage.predictions[split.test] == labels[split.test]).sum())
    assert hits(result, stage) == ("test", right, split.test.size)
    wrong = int((labels[stage.pseudo.nodes] != stage.pseudo.labels).sum())
    assert pseudo_labels(result) == (stage.pseudo.nodes.size, stage.pseudo.nodes.size, wrong)
    words = " ".join(sentences(result))
    assert f"{right / split.test.size:.1%} of {split.test.size:,} test nodes" in words
    assert f"{wrong:,} ({wrong / stage.pseudo.nodes.size:.1%}) were wrong" in words
    assert result.history.stop_reason in words
    assert str(result.graph.node_ids[result.suggested.nodes[0]]) in words
    assert next(title for title, _, _ in cards(result)) == "Accuracy on test nodes"


def test_what_is_not_known_is_said(result: Result) -> None:
    """Without any truth there is no accuracy, no share of wrong ones, and no made-up figure."""
    words = " ".join(sentences(blind(result)))
    assert "can't be said" in words
    assert "how many of them wrongly is not known" in words
    assert [title for title, _, _ in cards(blind(result))] == ["Pseudo-labelled nodes", "Stages"]


def test_a_network_alone(result: Result) -> None:
    """A run of the teacher alone pseudo-labelled nobody."""
    alone = replace(result.history, stages=result.history.stages[:1])
    words = " ".join(sentences(Result.of(result.run, alone, 1.0)))
    assert "No node was pseudo-labelled." in words
    assert "no student replaced the teacher" in words
