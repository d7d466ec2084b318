"""The stages of a page: figures, shift, T, confusion, reliability and curves, of all nodes."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from drgst.nn.training import Training
from drgst.report.explorer.shift import shift_of
from drgst.report.explorer.verdict import confusion, honesty, judges
from drgst.runs.metrics import stage_rows
from drgst.runs.result import Result
from drgst.selftrain.history import Stage

POINTS = 300  # of a curve


def stage_data(result: Result, shown: list[int]) -> list[dict[str, Any]]:
    """A dict a stage; those that the page does not hold in detail have their figures and distances only."""
    rows = stage_rows(result.history, result.graph, result.split)
    data = []
    for place, (row, stage) in enumerate(zip(rows, result.history.stages, strict=True)):
        shift = shift_of(stage, result.graph, result.split)
        detail = _detail(result, stage) if place in shown else {}
        data.append({**row, "result": stage.number == result.stage.number, "shift": shift, **detail})
    return data


def _detail(result: Result, stage: Stage) -> dict[str, Any]:
    graph, split, pseudo = result.graph, result.split, stage.pseudo
    _, nodes = judges(graph, split)
    return {
        "transition": None if stage.transition is None else stage.transition.round(5).tolist(),
        "pseudo": confusion(graph.labels[pseudo.nodes], pseudo.labels, graph.num_classes),
        "confusion": confusion(graph.labels[nodes], stage.predictions[nodes], graph.num_classes),
        "honesty": honesty(stage, graph, split),
        "trainings": [_training(t) for t in stage.trainings],
    }


def _training(training: Training) -> dict[str, Any]:
    count = len(training.curve.train_loss)
    epochs = np.unique(np.linspace(0, count - 1, min(POINTS, count)).round().astype(int)).tolist() if count else []
    return {
        "epochs": training.epochs,
        "best_epoch": training.best_epoch,
        "reason": training.reason,
        "at": epochs,
        "train": [_short(training.curve.train_loss[e]) for e in epochs],
        "val": [_short(training.curve.val_loss[e]) for e in epochs if e < len(training.curve.val_loss)],
    }


def _short(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None


def threshold_of(part: Any) -> float | None:
    """The threshold of a select part, or of a part within it; None where it chooses by something else."""
    if not is_dataclass(part):
        return None
    value = getattr(part, "threshold", None)
    if isinstance(value, float):
        return value
    inner = (threshold_of(getattr(part, f.name)) for f in fields(part))
    return next((t for t in inner if t is not None), None)
