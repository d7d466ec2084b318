"""Predictions of a finished run, or of its model on another graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from drgst.datasets.load import open_graph
from drgst.errors import RunError
from drgst.graph.core import Graph
from drgst.runs.folder import CONFIG, MODEL, finished_run, table_schema
from drgst.runs.metrics import accuracy, finite
from drgst.runs.model import Model
from drgst.runs.predictions import Predictions
from drgst.selftrain.views.ensemble import fitted_maps
from drgst.tables.naming import relabel


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

    Where ``graph`` is the fitted graph with new nodes after its own, the fitted nodes keep the predictions of the run:
    new neighbours would change some of them. Accuracy is over the nodes whose label is one of the model's classes.
    """
    chosen = np.arange(graph.num_nodes) if nodes is None else nodes
    probabilities = model.probabilities(graph)
    probabilities, notes = _kept(model, graph, probabilities) if nodes is None else (probabilities, ())
    probabilities = probabilities[chosen]
    predicted = probabilities.argmax(axis=1)
    found = accuracy(predicted, relabel(graph.labels[chosen], graph.class_names, model.class_names))
    arrays = {"probabilities": probabilities}
    return Predictions(graph.node_ids[chosen], model.class_names, arrays, finite(found), notes)


def _kept(model: Model, graph: Graph, probabilities: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """``probabilities``, (N, C), with those of the run for its nodes, and a note, where new nodes follow them."""
    maps, own = fitted_maps(model.state), model.arrays["probabilities"]
    if "nodes.rows" not in maps.arrays or graph.num_nodes <= len(own) or not maps.are_of_the_first_nodes(graph):
        return probabilities, ()
    changed = int((probabilities[: len(own)].argmax(axis=1) != own.argmax(axis=1)).sum())
    note = (
        f"the first {len(own):,} nodes are those of the run and keep its predictions; beside the new nodes {changed:,} "
        "of them would get another class"
    )
    return np.concatenate([own, probabilities[len(own) :]]), (note,)
