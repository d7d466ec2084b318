"""What the truth says of a finished run: called after the fact, for reports only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.runs.metrics import accuracy
from drgst.selftrain.history import History


@dataclass(frozen=True)
class StageVerdict:
    """What is known of one stage once the truth is looked at; NaN where it is not known."""

    precision: float  # share of right pseudo-labels
    test_accuracy: float


def judge(history: History, graph: Graph, split: Split) -> list[StageVerdict]:
    """One verdict a stage, from the labels that ``graph`` holds."""
    verdicts = []
    for stage in history.stages:
        precision = accuracy(stage.pseudo.labels, graph.labels[stage.pseudo.nodes])
        verdicts.append(StageVerdict(precision, accuracy(stage.predictions[split.test], graph.labels[split.test])))
    return verdicts


def stage_rows(history: History, graph: Graph, split: Split) -> list[dict[str, Any]]:
    """The summary of each stage with its verdict, for tables and history.jsonl."""
    rows = []
    for stage, verdict in zip(history.stages, judge(history, graph, split), strict=True):
        known = {"precision": verdict.precision, "test_accuracy": verdict.test_accuracy}
        rows.append({**stage.summary(), **{k: (None if v != v else v) for k, v in known.items()}})
    return rows
