"""Predictions of a run: for its own graph, for another graph, or for later tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from drgst.datasets.load import open_graph
from drgst.errors import RunError
from drgst.runs.folder import finished_run, table_schema
from drgst.runs.model import Model
from drgst.runs.predictions import Predictions
from drgst.runs.run import load_result


def predict(path: str | Path, graph: str | None = None) -> Predictions:
    """The predictions of the run in ``path`` for its own graph, or of its model for another graph."""
    if graph is None:
        return load_result(path).predictions
    model = Model.load(path)
    return model.predict(open_graph(graph, classes=model.class_names))


def predict_tables(path: str | Path, nodes: Any, edges: Any = None, alone: bool = False) -> Predictions:
    """The predictions of the run in ``path`` for the nodes of later tables, which join the graph of the run by edges.

    The columns are read as in fitting. ``alone``: the new nodes and their edges form a graph of their own.
    """
    folder = finished_run(path)
    source = str(folder.config().data)
    schema, model = table_schema(source), Model.load(folder.path)
    if schema is None:
        raise RunError(f"the run in {path} was not made of tables by drgst classify: name a GRAPH instead of --nodes")
    tables = schema.apply(nodes, edges, base=None if alone else open_graph(source))
    return replace(model.predict(tables.graph, tables.new), notes=tables.notes)
