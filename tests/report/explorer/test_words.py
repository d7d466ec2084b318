"""The run in words says what is so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drgst.report.explorer.source import Told
from drgst.report.explorer.words import cards, hits, pseudo_labels, sentences
from drgst.runs.result import Outcome


def blind(told: Told) -> Told:
    """The same run where only training labels are known, and without validation."""
    plan = told.outcome.plan
    labels = np.full(told.graph.num_nodes, -1)
    labels[plan.split.train] = told.graph.labels[plan.split.train]
    problem = replace(plan.problem, split=plan.split.without_validation())
    return Told(Outcome(replace(plan, graph=told.graph.with_(labels=labels), problem=problem), told.history), "again")


def test_figures_are_those_of_the_run(told: Told) -> None:
    """Right ones, trusted ones and wrong ones, counted again here."""
    split, labels, result = told.outcome.plan.split, told.graph.labels, told.result
    right = int((result.predictions[split.test] == labels[split.test]).sum())
    assert hits(told, result) == ("test", right, split.test.size)
    wrong = int((labels[result.pseudo.nodes] != result.pseudo.labels).sum())
    assert pseudo_labels(told) == (result.pseudo.nodes.size, result.pseudo.nodes.size, wrong)
    words = " ".join(sentences(told))
    assert f"{right / split.test.size:.1%} of {split.test.size:,} test nodes" in words
    assert f"{wrong:,} ({wrong / result.pseudo.nodes.size:.1%}) were wrong" in words
    assert told.history.stop_reason in words
    assert str(told.graph.node_ids[told.suggested.nodes[0]]) in words
    assert next(title for title, _, _ in cards(told)) == "Accuracy on test nodes"


def test_what_is_not_known_is_said(told: Told) -> None:
    """Without any truth there is no accuracy, no share of wrong ones, and no made-up figure."""
    words = " ".join(sentences(blind(told)))
    assert "can't be said" in words
    assert "how many of them wrongly is not known" in words
    assert [title for title, _, _ in cards(blind(told))] == ["Pseudo-labelled nodes", "Stages"]


def test_a_network_alone(told: Told) -> None:
    """A run of the teacher alone pseudo-labelled nobody."""
    alone = replace(told.history, stages=told.history.stages[:1])
    words = " ".join(sentences(Told(Outcome(told.outcome.plan, alone), "again")))
    assert "No node was pseudo-labelled." in words
    assert "no student replaced the teacher" in words
