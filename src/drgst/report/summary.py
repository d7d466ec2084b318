"""The summary of a run in cards and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.decide.labels.suggest import Suggestions
from drgst.runs.metrics import RankScores, Z, evaluation_nodes, wilson
from drgst.runs.result import Result
from drgst.selftrain.problem import FEWEST_MEASURED
from drgst.selftrain.views.ensemble import fitted_weights
from drgst.selftrain.views.relations import relation_weights

Card = tuple[str, str, str]  # title, figure, remark
RARE = 0.1  # share of the unlabelled nodes below which a class counts as rare
UNSURE = 0.8  # probability of the predicted class below which a node counts as unsure
FEW_CLASSES = 5  # up to which rare classes have a card of their own


@dataclass(frozen=True)
class Counts:
    """Correct predictions of the result and of its teacher on the evaluation nodes, and counts of pseudo-labels."""

    evaluated_on: str  # "test" or "validation"; "" where neither has known labels
    nodes: int
    correct: int
    teacher_correct: int
    confidence: float  # mean on the evaluation nodes
    pseudo_labels: int
    known: int  # pseudo-labels of nodes whose label is known
    wrong: int  # of those

    @classmethod
    def of(cls, result: Result) -> Counts:
        """The counts of a result."""
        labels, pseudo = result.graph.labels, result.stage.pseudo_labels
        name, nodes = evaluation_nodes(result.graph, result.split)
        stages = (result.stage, result.history[0])
        correct, teacher = (int((stage.predictions[nodes] == labels[nodes]).sum()) for stage in stages)
        confidence = float(result.probabilities[nodes].max(axis=1).mean()) if nodes.size else float("nan")
        known = labels[pseudo.nodes] >= 0
        wrong = int((labels[pseudo.nodes] != pseudo.labels)[known].sum())
        return cls(name, nodes.size, correct, teacher, confidence, pseudo.nodes.size, int(known.sum()), wrong)

    @property
    def accuracy(self) -> float:
        """On the evaluation nodes."""
        return self.correct / self.nodes

    @property
    def improvement(self) -> str:
        """``+1.2 points`` against the teacher."""
        return f"{100 * (self.correct - self.teacher_correct) / self.nodes:+.1f} points"

    @property
    def interval(self) -> str:
        """``80.1% to 84.3%``."""
        low, high = wilson(self.correct, self.nodes)
        return f"{low:.1%} to {high:.1%}"


def cards(result: Result) -> list[Card]:
    """The most important figures."""
    c, is_teacher = Counts.of(result), result.stage.number == 0
    share = f"{c.wrong:,} wrong ({c.wrong / c.known:.1%})" if c.known else "accuracy unknown"
    found = [("Pseudo-labelled nodes", f"{c.pseudo_labels:,}", share if c.pseudo_labels else "training labels only")]
    if c.nodes:
        change = "" if is_teacher else f"; {c.improvement} against the teacher"
        gap = 100 * (c.confidence - c.accuracy)
        remark = f"{abs(gap):.1f} points {'above' if gap > 0 else 'below'} the accuracy"
        found.insert(0, (f"Accuracy on {c.evaluated_on} nodes", f"{c.accuracy:.1%}", c.interval + change))
        found.append(("Mean confidence", f"{c.confidence:.1%}", remark))
    seconds = f"{result.seconds:.0f} s" if result.seconds < 120 else f"{result.seconds / 60:.0f} min"
    work = f"{seconds}, {result.epochs:,} epochs" if result.epochs else seconds
    remark = f"{work}; the result is {stage_name(result.stage.number)}"
    return [*_out_of_fold(result, c), *found, ("Stages", str(len(result.history) - 1), remark)]


def _out_of_fold(result: Result, c: Counts) -> list[Card]:
    """What is known without test labels: out-of-fold accuracy, and average precision of rare classes."""
    p, rest, names, held_out = result.out_of_fold, result.unlabelled, result.model.class_names, result.measured
    if p is None:
        return []
    found = []
    if c.evaluated_on != "test" and result.oof_accuracy is not None:
        title, count = f"{result.folds}-fold out-of-fold accuracy", int(held_out.sum())
        low, high = wilson(round(result.oof_accuracy * count), count)
        labels = "labels" if result.sampled.all() else "labels that were not asked for"
        remark = f"{low:.0%} to {high:.0%}, from {count:,} {labels}{result.never_held_out}"
        found.append((title, f"{result.oof_accuracy:.1%}", remark))
    shares = result.probabilities[rest].mean(axis=0) if rest.size else np.ones(len(names))
    for k in np.flatnonzero(shares < RARE) if len(names) <= FEW_CLASSES else ():
        known = result.train_labels[held_out] == k
        value = RankScores(p[held_out, k], known).average_precision()
        if known.sum() >= FEWEST_MEASURED and np.isfinite(value):
            remark = f"out-of-fold, from {known.sum():,} labels of {names[k]} among {known.size:,}"
            found.append((f"Average precision of {names[k]}", f"{value:.3f}", remark))
    return found


def found_data(result: Result) -> dict[str, Any]:
    """What was found: of each class the predicted and the expected number of nodes without a given label.

    The interval is of chance alone: Σ_u p_uc ± 1.96 √Σ_u p_uc (1 - p_uc). ``focus`` is the class of fewest expected
    nodes, by which lists are ordered first.
    """
    rest, given = result.unlabelled, result.model.arrays["given"]
    p = result.probabilities[rest].astype(np.float64)
    classes = len(result.model.class_names)
    predicted = np.bincount(p.argmax(axis=1), minlength=classes) if rest.size else np.zeros(classes, dtype=int)
    expected, spread = p.sum(axis=0), Z * np.sqrt((p * (1 - p)).sum(axis=0))
    rows = [
        {
            "predicted": int(predicted[c]),
            "given": int((given == c).sum()),
            "expected": float(expected[c]),
            "low": max(0.0, float(expected[c] - spread[c])),
            "high": min(float(rest.size), float(expected[c] + spread[c])),
        }
        for c in range(classes)
    ]
    return {
        "classes": rows,
        "nodes": int(rest.size),
        "focus": int(expected.argmin()) if rest.size else 0,
        "unsure": int((p.max(axis=1) < UNSURE).sum()) if rest.size else 0,
        "confidence": float(p.max(axis=1).mean()) if rest.size else None,
        "out_of_fold": result.oof_words,
        "warning": result.prior_warning(),
    }


def sentences(result: Result, suggested: Suggestions | None) -> list[str]:
    """The summary, a sentence or two each on data, relations, accuracy, pseudo-labels, calibration and next labels."""
    c = Counts.of(result)
    stop = f"Training stopped: {result.history.stop_reason}." if result.history.stop_reason else ""
    found = [
        _data(result),
        _relations(result),
        _accuracy(result, c),
        _pseudo_labels(result, c),
        _calibration(c),
        stop,
        "" if suggested is None else _next(result, suggested),
    ]
    return [text for text in found if text]


def stage_name(number: int) -> str:
    """``the teacher``, ``the student of stage 2``."""
    return "the teacher" if number == 0 else f"the student of stage {number}"


def _data(result: Result) -> str:
    graph, split = result.graph, result.split
    counts = np.bincount(graph.labels[split.train], minlength=graph.num_classes)
    each = f"{counts.min()}" if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"
    validation = f"{split.val.size:,}" if split.val.size else "no"
    return (
        f"{result.config.recipe} was run on {graph.name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"{graph.num_classes} classes, {split.train.size:,} training labels ({each} per class) and {validation} "
        "validation labels."
    )


def _relations(result: Result) -> str:
    """The weights by which relations count, as views or as edges."""
    edges = result.model.relations
    weights = relation_weights(fitted_weights(result.model.state)) if edges is None else edges
    words = ", ".join(f"{name} {weight:.2f}" for name, weight in weights.items())
    return f"Relations by weight{' as edges' if edges else ''}: {words}." if words else ""


def _accuracy(result: Result, c: Counts) -> str:
    if not c.nodes:
        return f"No labels were kept for testing; {result.oof_words or 'the accuracy is unknown'}."
    text = (
        f"The result, {stage_name(result.stage.number)}, has an accuracy of {c.accuracy:.1%} on {c.nodes:,} "
        f"{c.evaluated_on} nodes (95% interval {c.interval}, from the number of nodes alone)"
    )
    if result.stage.number == 0:
        return f"{text}; no student replaced the teacher."
    return f"{text}; the teacher, trained on true labels only, {c.teacher_correct / c.nodes:.1%}: {c.improvement}."


def _pseudo_labels(result: Result, c: Counts) -> str:
    if len(result.history) == 1:
        return f"The run ended after the teacher: {result.history.stop_reason}."
    ever = np.unique(np.concatenate([s.pseudo_labels.nodes for s in result.history.stages])).size
    text = f"{c.pseudo_labels:,} nodes were pseudo-labelled for the result, {ever:,} in any stage"
    if not c.known:
        return f"{text}; how many of the pseudo-labels are wrong is unknown."
    of = "" if c.known == c.pseudo_labels else f" of the {c.known:,} with known labels"
    return f"{text}; {c.wrong:,}{of} ({c.wrong / c.known:.1%}) were wrong."


def _calibration(c: Counts) -> str:
    if not c.nodes:
        return ""
    gap = 100 * (c.confidence - c.accuracy)
    how = "calibrated" if abs(gap) < 2 else f"{abs(gap):.0f} points too {'high' if gap > 0 else 'low'}"
    return f"Its mean confidence on the {c.evaluated_on} nodes, {c.confidence:.1%}, is {how}."


def _next(result: Result, found: Suggestions) -> str:
    if not found.nodes.size:
        return "There is nothing to label next: every node has a label."
    names = ", ".join(str(result.graph.node_ids[u]) for u in found.nodes[:3])
    more = f" and {found.nodes.size - 3:,} more" if found.nodes.size > 3 else ""
    return f"To label next: {names}{more}. {found.note}"
