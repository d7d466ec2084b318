"""Predictions of a finished run, or of its model on another graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from drgst.datasets.load import open_graph
from drgst.errors import RunError
from drgst.graph.core import Graph
from drgst.runs.folder import CONFIG, MODEL, finished_run, table_schema
from drgst.runs.metrics import accuracy, finite
from drgst.runs.model import Model
from drgst.runs.prediction_files import to_csv, write_csv, write_parquet
from drgst.tables.naming import relabel
from drgst.transforms.softmax import softmax


@dataclass(frozen=True, eq=False)
class Predictions:
    """Ids, probabilities and more by node (:func:`~.column_pieces`), and the accuracy where labels are known."""

    ids: Sequence[Any] | np.ndarray
    class_names: Sequence[str]
    arrays: Mapping[str, np.ndarray]
    accuracy: float | None = None
    notes: tuple[str, ...] = ()  # what is not as in fitting, one sentence each

    @property
    def counts(self) -> dict[str, int]:
        """Class -> nodes that are predicted to be of it, the largest first."""
        number = np.bincount(self.arrays["probabilities"].argmax(axis=1), minlength=len(self.class_names))
        order = np.argsort(-number, kind="stable")
        return {self.class_names[c]: int(number[c]) for c in order if number[c]}

    @property
    def text(self) -> str:
        """As CSV."""
        return to_csv(self.ids, self.class_names, self.arrays)

    def write(self, path: Path) -> None:
        """Write them to ``path``, as Parquet where its name ends so, else as CSV; a piece of the nodes at a time."""
        write = write_parquet if path.suffix == ".parquet" else write_csv
        write(path, self.ids, self.class_names, self.arrays)


def of_run(path: str | Path) -> Predictions:
    """The predictions of the run in ``path`` for its own graph."""
    if (Path(path) / MODEL).is_file() and not (Path(path) / CONFIG).is_file():
        raise RunError(f"{path} holds a model but no run, so no predictions; name the graph to predict")
    folder = finished_run(path)
    model, ids = Model.load(folder.path), folder.node_ids()
    if len(ids) != len(model.arrays["probabilities"]):
        raise RunError(f"{folder} was edited: its files are not of the same graph")
    return Predictions(ids, model.class_names, model.arrays)


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
    return Predictions(graph.node_ids[chosen], model.class_names, {"probabilities": probabilities}, finite(found))
