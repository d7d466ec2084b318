"""Predictions as CSV: of a finished run, or of its model on another graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drgst.errors import RunError
from drgst.files import csv_text
from drgst.graph.core import Graph
from drgst.graph.io.naming import relabel
from drgst.graph.transforms.softmax import softmax
from drgst.runs.folder import CONFIG, MODEL, PREDICTIONS, finished_run
from drgst.runs.metrics import accuracy, finite
from drgst.runs.model import Model

HEADER = ("id", "label", "confidence", "gain", "stage")


@dataclass(frozen=True)
class Predictions:
    """CSV text, the label of every node, and the accuracy where labels are known."""

    text: str
    labels: list[str]
    accuracy: float | None = None


def of_run(path: str | Path) -> Predictions:
    """The predictions of the run in ``path`` for its own graph."""
    if (Path(path) / MODEL).is_file() and not (Path(path) / CONFIG).is_file():
        raise RunError(f"{path} holds a model but no run, so no predictions; name the graph to predict")
    folder = finished_run(path)
    return Predictions(folder.text(PREDICTIONS), folder.predictions("label"))


def of_model(model: Model, graph: Graph) -> Predictions:
    """The predictions of ``model`` for ``graph``; accuracy over the nodes whose label is one of the model's classes."""
    probabilities = softmax(model.logits(graph))
    predicted = probabilities.argmax(axis=1)
    found = accuracy(predicted, relabel(graph.labels, graph.class_names, model.class_names))
    text = to_csv(graph.node_ids.tolist(), model.class_names, {"probabilities": probabilities})
    return Predictions(text, [model.class_names[c] for c in predicted], finite(found))


def to_csv(ids: Sequence[Any], class_names: Sequence[str], arrays: Mapping[str, np.ndarray]) -> str:
    """One line per node: its id, label and confidence, and its gain and stage where ``arrays`` has them.

    Stage 0 is a training node, -1 a node that was never pseudo-labelled.
    """
    p = arrays["probabilities"]
    columns = [ids, [class_names[c] for c in p.argmax(axis=1)], [f"{v:.6f}" for v in p.max(axis=1)]]
    if "gain" in arrays:
        gain = ["" if math.isnan(v) else f"{v:.6g}" for v in arrays["gain"].tolist()]
        columns += [gain, arrays["labeled_stage"].tolist()]
    return csv_text([HEADER[: len(columns)], *zip(*columns, strict=True)])
