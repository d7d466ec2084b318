"""Predictions as CSV: of a finished run, or of its model on another graph."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from drgst.errors import RunError
from drgst.files import csv_text
from drgst.graph.core import Graph
from drgst.graph.datasets.load import open_graph
from drgst.graph.io.naming import relabel
from drgst.graph.transforms.softmax import softmax
from drgst.runs.folder import CONFIG, MODEL, PREDICTIONS, finished_run, table_schema
from drgst.runs.metrics import accuracy, finite
from drgst.runs.model import Model

PIECE = 100_000  # nodes whose lines are made at a time


@dataclass(frozen=True)
class Predictions:
    """CSV text, the label of every node, and the accuracy where labels are known."""

    text: str
    labels: list[str]
    accuracy: float | None = None
    notes: tuple[str, ...] = ()  # what is not as in fitting, one sentence each


def of_run(path: str | Path) -> Predictions:
    """The predictions of the run in ``path`` for its own graph."""
    if (Path(path) / MODEL).is_file() and not (Path(path) / CONFIG).is_file():
        raise RunError(f"{path} holds a model but no run, so no predictions; name the graph to predict")
    folder = finished_run(path)
    return Predictions(folder.text(PREDICTIONS), folder.predictions("label"))


def of_tables(path: str | Path, nodes: Any, edges: Any = None, alone: bool = False) -> Predictions:
    """The predictions of the run in ``path`` for the nodes of later tables, which join the graph of the run by edges.

    The columns are read as in fitting. ``alone``: the new nodes and their edges form a graph of their own.
    """
    folder = finished_run(path)
    source = str(folder.config().data)
    schema, model = table_schema(source), Model.load(folder.path)
    if schema is None:
        raise RunError(f"the run in {path} was not made of tables by drgst classify: name a GRAPH instead of --nodes")
    tables = schema.apply(nodes, edges, base=None if alone else open_graph(source))
    return replace(of_model(model, tables.graph, tables.new), notes=tables.notes)


def of_model(model: Model, graph: Graph, nodes: np.ndarray | None = None) -> Predictions:
    """The predictions of ``model`` for ``graph``, or for some of its nodes.

    Accuracy is over the nodes whose label is one of the model's classes.
    """
    chosen = np.arange(graph.num_nodes) if nodes is None else nodes
    probabilities = softmax(model.logits(graph))[chosen]
    predicted = probabilities.argmax(axis=1)
    found = accuracy(predicted, relabel(graph.labels[chosen], graph.class_names, model.class_names))
    text = to_csv(graph.node_ids[chosen].tolist(), model.class_names, {"probabilities": probabilities})
    return Predictions(text, [model.class_names[c] for c in predicted], finite(found))


def to_csv(ids: Sequence[Any] | np.ndarray, class_names: Sequence[str], arrays: Mapping[str, np.ndarray]) -> str:
    """The :func:`csv_pieces` as one text."""
    return "".join(csv_pieces(ids, class_names, arrays))


def csv_pieces(
    ids: Sequence[Any] | np.ndarray, class_names: Sequence[str], arrays: Mapping[str, np.ndarray]
) -> Iterator[str]:
    """One line per node: id, predicted label, its probability (``confidence``) and that of each class (``p:CLASS``).

    For the graph of a run also gain and stage (0 for a training node, -1 for a node that was never pseudo-labelled),
    the label that was given, and its probability by a run without it (``out_of_fold``), empty where there is none. A
    piece has the lines of 100,000 nodes at most.
    """
    out_of_fold = _out_of_fold(arrays)
    for start in range(0, max(len(ids), 1), PIECE):
        rows = slice(start, start + PIECE)
        own = {
            name: arrays[name][rows] for name in ("probabilities", "gain", "labeled_stage", "given") if name in arrays
        }
        columns = _columns(ids[rows], rows, class_names, own, out_of_fold)
        lines = zip(*columns.values(), strict=True)
        text = csv_text([columns, *lines])
        yield text if not start else text[len(csv_text([columns])) :]


def _columns(
    ids: Sequence[Any] | np.ndarray,
    rows: slice,
    class_names: Sequence[str],
    arrays: Mapping[str, np.ndarray],
    out_of_fold: Mapping[int, str],
) -> dict[str, Sequence[Any]]:
    p = arrays["probabilities"]
    columns: dict[str, Sequence[Any]] = {
        "id": ids.tolist() if isinstance(ids, np.ndarray) else ids,
        "label": [class_names[c] for c in p.argmax(axis=1)],
        "confidence": _decimals(p.max(axis=1)),
    }
    if "gain" in arrays:
        columns["gain"] = ["" if math.isnan(v) else f"{v:.6g}" for v in arrays["gain"].tolist()]
        columns["stage"] = arrays["labeled_stage"].tolist()
    if "given" in arrays:
        columns["given"] = ["" if c < 0 else class_names[c] for c in arrays["given"].tolist()]
        columns["out_of_fold"] = [out_of_fold.get(node, "") for node in range(rows.start, rows.start + len(ids))]
    return columns | {f"p:{name}": _decimals(p[:, c]) for c, name in enumerate(class_names)}


def _out_of_fold(arrays: Mapping[str, np.ndarray]) -> dict[int, str]:
    """Training node -> the out-of-fold probability of its given label."""
    if "out_of_fold" not in arrays:
        return {}
    train = np.flatnonzero(arrays["labeled_stage"] == 0)
    p = softmax(arrays["out_of_fold"])[np.arange(train.size), arrays["given"][train]]
    return dict(zip(train.tolist(), _decimals(p), strict=True))


def _decimals(values: np.ndarray) -> list[str]:
    return [f"{v:.6f}" for v in values.tolist()]
