"""The stages of a page: metrics, shift, T, confusion, calibration and loss curves, over all nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import wasserstein_distance

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.nn.records import Training
from drgst.runs.metrics import ClassScores, confusion, evaluation_nodes, reliability
from drgst.runs.result import Result
from drgst.selftrain.history import Stage
from drgst.transforms.softmax import softmax
from drgst.uncertainty.calibration import fit_temperature

POINTS = 300  # of a loss curve
BINS = 20  # of confidence


def stage_data(result: Result, shown: list[int]) -> list[dict[str, Any]]:
    """One dict per stage; a stage that the page does not hold in detail has its metrics and shift only."""
    data = []
    for place, (row, stage) in enumerate(zip(result.rows(), result.history.stages, strict=True)):
        shift = shift_of(stage, result.graph, result.split)
        detail = _detail(result, stage) if place in shown else {}
        data.append({**row, "result": stage.number == result.stage.number, "shift": shift, **detail})
    return data


def _detail(result: Result, stage: Stage) -> dict[str, Any]:
    graph, split, pseudo = result.graph, result.split, stage.pseudo_labels
    _, nodes = evaluation_nodes(graph, split)
    return {
        "transition": None if stage.transition is None else stage.transition.round(5).tolist(),
        "pseudo": _confusion(pseudo.labels, graph.labels[pseudo.nodes], graph.num_classes),
        "confusion": _confusion(stage.predictions[nodes], graph.labels[nodes], graph.num_classes),
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


def _confusion(predicted: np.ndarray, truth: np.ndarray, classes: int) -> list[list[int]] | None:
    """Counts by true class (rows) and predicted class (columns), (C, C); None where no label is known."""
    return confusion(predicted, truth, classes).tolist() if (truth >= 0).any() else None


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


def calibration(stage: Stage, graph: Graph, split: Split) -> dict[str, Any] | None:
    """The reliability before and after calibration; for a run without calibration, with a fitted temperature."""
    name, nodes = evaluation_nodes(graph, split)
    if not nodes.size:
        return None
    after, how = _calibrated(stage, graph, split, name)
    return {
        "nodes": name,
        "before": _reliability(softmax(stage.logits[nodes]), graph.labels[nodes]),
        "after": None if after is None else _reliability(softmax(after[nodes]), graph.labels[nodes]),
        "how": how,
    }


def _calibrated(stage: Stage, graph: Graph, split: Split, evaluated_on: str) -> tuple[np.ndarray | None, str]:
    if stage.final_logits is not stage.logits:
        return stage.final_logits, "after the run's own calibration"
    if not split.val.size or evaluated_on == "validation":  # not evaluated on the nodes it was fitted to
        return None, ""
    t = fit_temperature(stage.logits[split.val], graph.labels[split.val])
    return stage.logits / t, f"with a temperature of {t:.2f}, fitted to the validation nodes; the run did not use it"


def _reliability(probabilities: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """Number of nodes, mean confidence and accuracy in each bin of confidence, and the ECE."""
    scores, confidence = ClassScores(probabilities, truth), probabilities.max(axis=1)
    count, mean_confidence, accuracy = reliability(confidence, scores.predicted == truth, BINS)
    return {
        "count": count.tolist(),
        "confidence": mean_confidence.round(5).tolist(),
        "accuracy": accuracy.round(5).tolist(),
        "ece": scores.ece(),
        "mean_confidence": float(confidence.mean()),
        "mean_accuracy": scores.accuracy(),
    }
