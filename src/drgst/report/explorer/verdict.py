"""What the truth says where it is known: intervals, confusion, and whether confidence is honest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.runs.metrics import calibration_error
from drgst.selftrain.beliefs import softmax
from drgst.selftrain.history import Stage
from drgst.uncertainty.temperature import best_temperature

BINS = 20  # of the reliability diagram and of its ECE
Z = 1.959964  # 95 %


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share: (p̂ + z²/2n ± z √(p̂(1-p̂)/n + z²/4n²)) / (1 + z²/n) (Wilson 1927)."""
    p, z2 = hits / count, Z * Z / count
    half = Z * math.sqrt(p * (1 - p) / count + z2 / (4 * count))
    return max(0.0, (p + z2 / 2 - half) / (1 + z2)), min(1.0, (p + z2 / 2 + half) / (1 + z2))


def confusion(truth: np.ndarray, said: np.ndarray, classes: int) -> list[list[int]] | None:
    """Counts, a row a true class and a column a said class, (C, C); None where no truth is known."""
    known = truth >= 0
    if not known.any():
        return None
    table = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(table, (truth[known], said[known]), 1)
    return table.tolist()


def judges(graph: Graph, split: Split) -> tuple[str, np.ndarray]:
    """The nodes that may judge: test nodes of known truth, else validation nodes; ("", none) without both."""
    for name, nodes in (("test", split.test), ("validation", split.val)):
        known = nodes[graph.labels[nodes] >= 0]
        if known.size:
            return name, known
    return "", np.empty(0, dtype=np.int64)


def reliability(probabilities: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """Per bin of confidence how many nodes there are, how sure they are and how often they are right, with the ECE."""
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    place = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    count = np.bincount(place, minlength=BINS)
    sure = np.bincount(place, weights=confidence, minlength=BINS) / np.maximum(count, 1)
    hit = np.bincount(place, weights=right, minlength=BINS) / np.maximum(count, 1)
    return {
        "count": count.tolist(),
        "confidence": sure.round(5).tolist(),
        "accuracy": hit.round(5).tolist(),
        "ece": calibration_error(probabilities, truth, BINS),
        "mean_confidence": float(confidence.mean()),
        "mean_accuracy": float(right.mean()),
    }


def honesty(stage: Stage, graph: Graph, split: Split) -> dict[str, Any] | None:
    """The reliability before and after calibration; where the run did none, what a temperature would do."""
    name, nodes = judges(graph, split)
    if not nodes.size:
        return None
    truth = graph.labels[nodes]
    after, words = _after(stage, graph, split, name)
    return {
        "nodes": name,
        "before": reliability(softmax(stage.logits[nodes]), truth),
        "after": None if after is None else reliability(softmax(after[nodes]), truth),
        "after_words": words,
    }


def _after(stage: Stage, graph: Graph, split: Split, judge: str) -> tuple[np.ndarray | None, str]:
    if stage.final_logits is not stage.logits:
        return stage.final_logits, "after the run's own calibration"
    if not split.val.size or judge == "validation":  # a temperature is not judged on the nodes it was fitted to
        return None, ""
    t = best_temperature(stage.logits[split.val], graph.labels[split.val])
    return stage.logits / t, f"with a temperature of {t:.2f}, fitted to the validation nodes; the run did not use it"
