"""Distribution shift between the labelled, the pseudo-labelled and all nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import wasserstein_distance

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.selftrain.history import Stage

BINS = 20


def shares(labels: np.ndarray, classes: int) -> np.ndarray | None:
    """q_k = 1/M Σ_i [y_i = k], (C,), over the known labels; None where there is none."""
    known = labels[labels >= 0]
    return np.bincount(known, minlength=classes) / known.size if known.size else None


def total_variation(p: np.ndarray | None, q: np.ndarray | None) -> float | None:
    """½ Σ_k |p_k - q_k|: the share of nodes that would have to change class; None where a side is empty."""
    return None if p is None or q is None else float(np.abs(p - q).sum() / 2)


def confidence_distance(a: np.ndarray, b: np.ndarray) -> float | None:
    """∫ |F_a - F_b|, the Wasserstein distance of two samples of confidence; None where a side is empty."""
    return float(wasserstein_distance(a, b)) if a.size and b.size else None


def shift_of(stage: Stage, graph: Graph, split: Split) -> dict[str, Any]:
    """Class shares and confidence of labelled, pseudo-labelled and all nodes by the network of ``stage``."""
    confidence, classes = stage.probabilities.max(axis=1), graph.num_classes
    groups = {"labelled": split.train, "pseudo_labelled": stage.pseudo_labels.nodes, "all": np.arange(graph.num_nodes)}
    share = {
        "labelled": shares(graph.labels[split.train], classes),
        "pseudo_labelled": shares(stage.pseudo_labels.labels, classes),
        "all": shares(stage.predictions, classes),
        "truth": shares(graph.labels, classes) if 2 * (graph.labels >= 0).sum() > graph.num_nodes else None,
    }
    pairs = (("pseudo_labelled", "all"), ("pseudo_labelled", "labelled"), ("labelled", "all"), ("all", "truth"))
    return {
        "shares": {name: None if q is None else q.round(5).tolist() for name, q in share.items()},
        "confidence": {name: histogram(confidence[nodes]) for name, nodes in groups.items()},
        "class_distance": {f"{a}-{b}": total_variation(share[a], share[b]) for a, b in pairs},
        "confidence_distance": {
            f"{a}-{b}": confidence_distance(confidence[groups[a]], confidence[groups[b]]) for a, b in pairs[:3]
        },
    }


def histogram(values: np.ndarray) -> list[float] | None:
    """Shares of [0, 1] in 20 equal bins; None without values."""
    counts = np.histogram(values, BINS, (0.0, 1.0))[0]
    return (counts / values.size).round(5).tolist() if values.size else None
