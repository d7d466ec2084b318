"""The stages of a page: metrics, shift, T, confusion, calibration and loss curves, over all nodes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from drgst.nn.training import Training
from drgst.report.evaluation import calibration, confusion, evaluation_nodes
from drgst.report.shift import shift_of
from drgst.runs.metrics import stage_rows
from drgst.runs.result import Result
from drgst.selftrain.history import Stage

POINTS = 300  # of a loss curve


def stage_data(result: Result, shown: list[int]) -> list[dict[str, Any]]:
    """One dict per stage; a stage that the page does not hold in detail has its metrics and shift only."""
    rows = stage_rows(result.history, result.graph, result.split)
    data = []
    for place, (row, stage) in enumerate(zip(rows, result.history.stages, strict=True)):
        shift = shift_of(stage, result.graph, result.split)
        detail = _detail(result, stage) if place in shown else {}
        data.append({**row, "result": stage.number == result.stage.number, "shift": shift, **detail})
    return data


def _detail(result: Result, stage: Stage) -> dict[str, Any]:
    graph, split, pseudo = result.graph, result.split, stage.pseudo_labels
    _, nodes = evaluation_nodes(graph, split)
    return {
        "transition": None if stage.transition is None else stage.transition.round(5).tolist(),
        "pseudo": confusion(graph.labels[pseudo.nodes], pseudo.labels, graph.num_classes),
        "confusion": confusion(graph.labels[nodes], stage.predictions[nodes], graph.num_classes),
        "calibration": calibration(stage, graph, split),
        "trainings": [_training(t) for t in stage.trainings],
    }


def _training(training: Training) -> dict[str, Any]:
    curve = training.curve
    count = len(curve.train_loss)
    epochs = np.unique(np.linspace(0, count - 1, min(POINTS, count)).round().astype(int)).tolist() if count else []
    return {
        "epochs": training.epochs,
        "best_epoch": training.best_epoch,
        "reason": training.reason,
        "at": epochs,
        "train": [float(f"{curve.train_loss[e]:.5g}") for e in epochs],
        "val": [float(f"{curve.val_loss[e]:.5g}") for e in epochs if e < len(curve.val_loss)],
    }


def threshold_of(part: Any) -> float | None:
    """The threshold of a selector, or of a part within it; None where it selects by another rule."""
    if not is_dataclass(part):
        return None
    value = getattr(part, "threshold", None)
    if isinstance(value, float):
        return value
    inner = (threshold_of(getattr(part, f.name)) for f in fields(part))
    return next((t for t in inner if t is not None), None)
