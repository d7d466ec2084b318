"""The run in words: what a person should know before looking at any picture."""

from __future__ import annotations

import numpy as np

from drgst.report.explorer.verdict import judges, wilson
from drgst.runs.result import Result
from drgst.selftrain.history import Stage

Card = tuple[str, str, str]  # title, figure, remark


def stage_name(number: int) -> str:
    """``the teacher``, ``the student of stage 2``."""
    return "the teacher" if number == 0 else f"the student of stage {number}"


def cards(result: Result) -> list[Card]:
    """The figures that matter most."""
    made = [_accuracy_card(result), _trusted_card(result), _honesty_card(result)]
    seconds, epochs = result.seconds, result.epochs
    last = len(result.history) - 1
    stages = (
        "Stages",
        str(last),
        f"{_seconds(seconds)}, {epochs:,} epochs; the result is {stage_name(result.stage.number)}",
    )
    return [card for card in (*made, stages) if card is not None]


def sentences(result: Result) -> list[str]:
    """The summary, a sentence or two each."""
    said = [_data(result), _accuracy(result), _trusted(result), _honest(result), _stopped(result), _next(result)]
    return [words for words in said if words]


def pseudo_labels(result: Result) -> tuple[int, int, int]:
    """(trusted, of known truth, wrong) in the stage that made the result."""
    pseudo = result.stage.pseudo
    truth = result.graph.labels[pseudo.nodes]
    known = truth >= 0
    return pseudo.nodes.size, int(known.sum()), int((truth[known] != pseudo.labels[known]).sum())


def hits(result: Result, stage: Stage) -> tuple[str, int, int]:
    """(who judges, right, of how many)."""
    name, nodes = judges(result.graph, result.split)
    return name, int((stage.predictions[nodes] == result.graph.labels[nodes]).sum()), nodes.size


def _data(result: Result) -> str:
    graph, split, config = result.graph, result.split, result.config
    counts = np.bincount(graph.labels[split.train], minlength=graph.num_classes)
    each = f"{counts[0]} a class" if counts.min() == counts.max() else f"{counts.min()} to {counts.max()} a class"
    val = f" and {split.val.size:,} validation labels" if split.val.size else " and no validation labels"
    return (
        f"{config.recipe} was run on {graph.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"{graph.num_classes} classes, {split.train.size:,} training labels ({each}){val}."
    )


def _accuracy(result: Result) -> str:
    name, right, count = hits(result, result.stage)
    if not count:
        return "Whether it is right can't be said: no test or validation node has a known label."
    low, high = wilson(right, count)
    said = (
        f"The result, {stage_name(result.stage.number)}, is right on {right / count:.1%} of {count:,} {name} nodes "
        f"(95% interval {low:.1%} to {high:.1%}, from the number of nodes alone)"
    )
    if result.stage.number == 0:
        return f"{said}; no student replaced the teacher."
    before = hits(result, result.history[0])[1]
    return f"{said}; the teacher, which saw true labels only, {before / count:.1%}: {_points(right - before, count)}."


def _trusted(result: Result) -> str:
    if len(result.history) == 1:
        return "No node was pseudo-labelled."
    count, known, wrong = pseudo_labels(result)
    ever = np.unique(np.concatenate([s.pseudo.nodes for s in result.history.stages])).size
    said = f"{count:,} nodes were pseudo-labelled for the result, {ever:,} at one time or another"
    if not known:
        return f"{said}; how many of them wrongly is not known."
    of = "" if known == count else f" of the {known:,} whose truth is known"
    return f"{said}; {wrong:,}{of} ({wrong / known:.1%}) were wrong."


def _honest(result: Result) -> str:
    name, nodes = judges(result.graph, result.split)
    if not nodes.size:
        return ""
    sure = float(result.probabilities[nodes].max(axis=1).mean())
    right = float((result.stage.predictions[nodes] == result.graph.labels[nodes]).mean())
    gap = 100 * (sure - right)
    how = "about right" if abs(gap) < 2 else f"{abs(gap):.0f} points too {'high' if gap > 0 else 'low'}"
    return f"Its confidence, {sure:.1%} on average over the {name} nodes, is {how}."


def _stopped(result: Result) -> str:
    return f"It stopped: {result.history.stop_reason}." if result.history.stop_reason else ""


def _next(result: Result) -> str:
    found = result.suggested
    if not found.nodes.size:
        return "There is nothing to label next: every node has a label."
    first = [str(result.graph.node_ids[u]) for u in found.nodes[:3]]
    return f"Next it would have a person label {_listed(first)}: their {found.measure} is largest among nodes unlike."


def _accuracy_card(result: Result) -> Card | None:
    name, right, count = hits(result, result.stage)
    if not count:
        return None
    low, high = wilson(right, count)
    before = hits(result, result.history[0])[1]
    change = "" if result.stage.number == 0 else f"; {_points(right - before, count)} against the teacher"
    return f"Accuracy on {name} nodes", f"{right / count:.1%}", f"{low:.1%} to {high:.1%}{change}"


def _trusted_card(result: Result) -> Card:
    count, known, wrong = pseudo_labels(result)
    remark = f"{wrong:,} wrong ({wrong / known:.1%})" if known else "truth not known" if count else "true labels only"
    return "Pseudo-labelled nodes", f"{count:,}", remark


def _honesty_card(result: Result) -> Card | None:
    _, nodes = judges(result.graph, result.split)
    if not nodes.size:
        return None
    sure = float(result.probabilities[nodes].max(axis=1).mean())
    right = float((result.stage.predictions[nodes] == result.graph.labels[nodes]).mean())
    way = "surer than right" if sure > right else "less sure than right"
    return "Mean confidence", f"{sure:.1%}", f"{abs(100 * (sure - right)):.1f} points {way}"


def _points(more: int, count: int) -> str:
    return f"{100 * more / count:+.1f} points"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _listed(names: list[str]) -> str:
    nodes = "node" if len(names) == 1 else "nodes"
    return f"{nodes} {names[0]}" if len(names) == 1 else f"{nodes} {', '.join(names[:-1])} and {names[-1]}"
