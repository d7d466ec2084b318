"""The columns that a person knows a node by: those of its table, or few features."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from drgst.graph.core import Graph
from drgst.report.nodes import Sample, pack
from drgst.runs.folder import NODES, table_schema

FEATURES = 24  # up to which the features of a graph without a table are columns
LETTERS = 6_000_000  # of all texts of a page
LONGEST = 400  # letters of one text
NUMERIC = 0.95  # share of the cells that must be numbers for a column of numbers
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,14})(\.\d+)?([eE][+-]?\d{1,2})?")  # 0012 is a code, not a number

Column = dict[str, Any]  # name, and "values" (numbers, NaN where missing) or "texts" and "codes" (-1 where missing)


def run_columns(graph: Graph, data: str, sample: Sample) -> tuple[list[Column], list[str]]:
    """The columns of a run on ``data``, and notes: of the table in its folder, else of :func:`feature_columns`."""
    schema, table = table_schema(data), Path(data).with_name(NODES)
    if schema is None or not table.is_file():
        return feature_columns(graph, sample), []
    return table_columns(graph, str(table), schema.id, sample, hidden=schema.label)


def feature_columns(graph: Graph, sample: Sample) -> list[Column]:
    """One column per feature where there are few and they are dense."""
    x = graph.features
    if not isinstance(x, np.ndarray) or x.shape[1] > FEATURES:
        return []
    return [{"name": f"feature {k}", "values": pack(x[sample.nodes, k], "f4")} for k in range(x.shape[1])]


def table_columns(
    graph: Graph, table: Any, id_column: str | None, sample: Sample, hidden: str | None = None
) -> tuple[list[Column], list[str]]:
    """The columns of a node table but ids and ``hidden``, the labels; and notes on columns that are left out."""
    from drgst.tables.source import open_table

    cells = open_table(table, "nodes").checked().cells
    ids = cells.get(id_column or "")
    row_of = _rows(graph, ids)[sample.nodes]
    columns: list[Column] = []
    notes, left = [], LETTERS
    for name, each in cells.items():
        if name in (id_column, hidden) or name.partition(":")[0] == "features":
            continue
        codes = np.append(each.codes, -1)[row_of]
        values = np.array([float(text) if _NUMBER.fullmatch(text) else np.nan for text in each.texts], dtype=np.float64)
        if each.share(np.isfinite(values)) >= NUMERIC:
            columns.append({"name": name, "values": pack(np.append(values, np.nan)[codes], "f8")})
            continue
        used, codes = np.unique(codes, return_inverse=True)
        texts = [str(each.texts[k])[:LONGEST] for k in used[used >= 0].tolist()]
        codes = codes - int((used < 0).any())
        size = sum(map(len, texts))
        if size > left:
            notes.append(f"The column {name} is too long for the page and left out.")
            continue
        left -= size
        columns.append({"name": name, "texts": texts, "codes": pack(np.where(codes < 0, 2**32 - 1, codes), "u4")})
    return columns, notes


def _rows(graph: Graph, ids: Any) -> np.ndarray:
    """The row of each node in the table, (N,); -1 (the last, which is missing) for nodes that it does not have."""
    if ids is None:
        return np.arange(graph.num_nodes)
    place = {text: k for k, text in enumerate(ids.spread(np.array(ids.texts, dtype=object), "").tolist())}
    return np.array([place.get(str(name), -1) for name in graph.node_ids.tolist()], dtype=np.int64)
