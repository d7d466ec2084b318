"""Evaluation metrics. They read true labels, so nothing that trains or chooses may call them on test nodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.selftrain.history import History

Metrics = dict[str, float | None]


def accuracy(predicted: np.ndarray, truth: np.ndarray) -> float:
    """1/M Σ_i [ŷ_i = y_i] over the nodes of known label (y ≥ 0); NaN where there is none."""
    known = truth >= 0
    return float((predicted[known] == truth[known]).mean()) if known.any() else float("nan")


def macro_f1(predicted: np.ndarray, truth: np.ndarray, classes: int) -> float:
    """1/C Σ_k 2 TP_k / (2 TP_k + FP_k + FN_k) over the classes that occur in the truth."""
    known = truth >= 0
    p, y = predicted[known], truth[known]
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (y, p), 1)
    hits, sizes = np.diag(table), table.sum(axis=1) + table.sum(axis=0)
    present = table.sum(axis=1) > 0
    return float((2 * hits[present] / sizes[present]).mean()) if present.any() else float("nan")


def calibration_error(probabilities: np.ndarray, truth: np.ndarray, bins: int = 20) -> float:
    """ECE = Σ_b |B_b|/M · |acc(B_b) - conf(B_b)| over ``bins`` equal bins of confidence."""
    known = truth >= 0
    if not known.any():
        return float("nan")
    p, y = probabilities[known], truth[known]
    confidence = p.max(axis=1)
    right = (p.argmax(axis=1) == y).astype(np.float64)
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(place, weights=right - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / y.size)


def brier_score(probabilities: np.ndarray, truth: np.ndarray) -> float:
    """1/M Σ_i ‖p_i - e_{y_i}‖²."""
    known = truth >= 0
    if not known.any():
        return float("nan")
    apart = probabilities[known].astype(np.float64).copy()
    apart[np.arange(apart.shape[0]), truth[known]] -= 1
    return float((apart**2).sum(axis=1).mean())


def run_metrics(probabilities: np.ndarray, teacher: np.ndarray, graph: Graph, split: Split) -> Metrics:
    """Metrics of a result and of its teacher, from their probabilities (N, C); None where no label is known."""
    truth, p, p_teacher = graph.labels[split.test], probabilities[split.test], teacher[split.test]
    val = graph.labels[split.val]
    found = {
        "test_accuracy": accuracy(p.argmax(axis=1), truth),
        "teacher_test_accuracy": accuracy(p_teacher.argmax(axis=1), truth),
        "val_accuracy": accuracy(probabilities[split.val].argmax(axis=1), val),
        "teacher_val_accuracy": accuracy(teacher[split.val].argmax(axis=1), val),
        "macro_f1": macro_f1(p.argmax(axis=1), truth, graph.num_classes),
        "ece": calibration_error(p, truth),
        "teacher_ece": calibration_error(p_teacher, truth),
        "brier": brier_score(p, truth),
    }
    return {name: finite(value) for name, value in found.items()}


def stage_rows(history: History, graph: Graph, split: Split) -> list[dict[str, Any]]:
    """One row per stage: its summary, the accuracy of its pseudo-labels (precision) and its test accuracy."""
    labels = graph.labels
    return [
        {
            **stage.summary(),
            "precision": finite(accuracy(stage.pseudo_labels.labels, labels[stage.pseudo_labels.nodes])),
            "test_accuracy": finite(accuracy(stage.predictions[split.test], labels[split.test])),
        }
        for stage in history.stages
    ]


def finite(value: float) -> float | None:
    """``value``, or None for NaN and infinity, which JSON does not have."""
    return float(value) if math.isfinite(value) else None
