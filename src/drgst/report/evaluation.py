"""Evaluation against known labels: intervals, confusion matrices and calibration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.runs.metrics import calibration_error
from drgst.selftrain.history import Stage
from drgst.transforms.softmax import softmax
from drgst.uncertainty.calibration import fit_temperature

BINS = 20  # of the reliability diagram and its ECE
Z = 1.959964  # 95 %


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share: (p̂ + z²/2n ± z √(p̂(1-p̂)/n + z²/4n²)) / (1 + z²/n) (Wilson 1927)."""
    p, z2 = hits / count, Z * Z / count
    half = Z * math.sqrt(p * (1 - p) / count + z2 / (4 * count))
    return max(0.0, (p + z2 / 2 - half) / (1 + z2)), min(1.0, (p + z2 / 2 + half) / (1 + z2))


def confusion(truth: np.ndarray, predicted: np.ndarray, classes: int) -> list[list[int]] | None:
    """Counts by true class (rows) and predicted class (columns), (C, C); None where no label is known."""
    known = truth >= 0
    if not known.any():
        return None
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (truth[known], predicted[known]), 1)
    return table.tolist()


def evaluation_nodes(graph: Graph, split: Split) -> tuple[str, np.ndarray]:
    """The test nodes of known label, else such validation nodes, with their name; ("", empty) without either."""
    for name, nodes in (("test", split.test), ("validation", split.val)):
        known = nodes[graph.labels[nodes] >= 0]
        if known.size:
            return name, known
    return "", np.empty(0, dtype=np.int64)


def reliability(probabilities: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """Number of nodes, mean confidence and accuracy in each bin of confidence, and the ECE."""
    confidence, correct = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    place = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    count = np.bincount(place, minlength=BINS)
    sums = (np.bincount(place, weights=values, minlength=BINS) for values in (confidence, correct))
    mean_confidence, accuracy = (values / np.maximum(count, 1) for values in sums)
    return {
        "count": count.tolist(),
        "confidence": mean_confidence.round(5).tolist(),
        "accuracy": accuracy.round(5).tolist(),
        "ece": calibration_error(probabilities, truth, BINS),
        "mean_confidence": float(confidence.mean()),
        "mean_accuracy": float(correct.mean()),
    }


def calibration(stage: Stage, graph: Graph, split: Split) -> dict[str, Any] | None:
    """The reliability before and after calibration; for a run without calibration, with a fitted temperature."""
    name, nodes = evaluation_nodes(graph, split)
    if not nodes.size:
        return None
    after, how = _calibrated(stage, graph, split, name)
    return {
        "nodes": name,
        "before": reliability(softmax(stage.logits[nodes]), graph.labels[nodes]),
        "after": None if after is None else reliability(softmax(after[nodes]), graph.labels[nodes]),
        "how": how,
    }


def _calibrated(stage: Stage, graph: Graph, split: Split, evaluated_on: str) -> tuple[np.ndarray | None, str]:
    if stage.final_logits is not stage.logits:
        return stage.final_logits, "after the run's own calibration"
    if not split.val.size or evaluated_on == "validation":  # not evaluated on the nodes it was fitted to
        return None, ""
    t = fit_temperature(stage.logits[split.val], graph.labels[split.val])
    return stage.logits / t, f"with a temperature of {t:.2f}, fitted to the validation nodes; the run did not use it"
