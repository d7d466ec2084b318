"""Predictions of a finished run, or of its model on another graph, as CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from drgst.errors import RunError
from drgst.graph.core import Graph
from drgst.graph.io.naming import relabel
from drgst.runs.folder import CONFIG, MODEL, PREDICTIONS, finished_run
from drgst.runs.metrics import accuracy
from drgst.runs.model import Model
from drgst.runs.result import predictions_csv
from drgst.selftrain.beliefs import softmax


@dataclass(frozen=True)
class Predictions:
    """CSV text, how often each class was predicted, and how often rightly where that is known."""

    text: str
    counts: dict[str, int]
    accuracy: float | None = None


def of_run(path: str | Path) -> Predictions:
    """What the run in ``path`` predicted for its own graph."""
    if (Path(path) / MODEL).is_file() and not (Path(path) / CONFIG).is_file():
        raise RunError(f"{path} holds a model but no run, so no predictions; name the graph to predict")
    folder = finished_run(path)
    text = folder.text(PREDICTIONS)
    try:
        return Predictions(text, dict(Counter(row["label"] for row in csv.DictReader(io.StringIO(text)))))
    except KeyError as error:
        raise RunError(f"{folder / PREDICTIONS} is damaged: it has no column {error}") from error


def of_model(model: Model, graph: Graph) -> Predictions:
    """What ``model`` predicts for ``graph``; accuracy over the nodes whose label is one of the model's classes."""
    probabilities = softmax(model.logits(graph))
    guess = probabilities.argmax(axis=1)
    right = accuracy(guess, relabel(graph.labels, graph.class_names, model.class_names))
    counts = {model.class_names[c]: int(k) for c, k in enumerate(np.bincount(guess)) if k}
    text = predictions_csv(graph, model.class_names, probabilities)
    return Predictions(text, counts, None if np.isnan(right) else right)
