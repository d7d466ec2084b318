"""Graphs as two tables for :func:`drgst.read_tables`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from drgst.errors import DataFileError
from drgst.files import FORMULA, PathLike, inert_cell, replacing
from drgst.graph.core import Graph
from drgst.graph.split import PARTS
from drgst.tables.cells import MISSING
from drgst.tables.read import FORMATS


def write_tables(graph: Graph, folder: PathLike, format: Literal["csv", "parquet"] = "csv") -> None:  # noqa: A002
    """Write ``nodes.*`` and ``edges.*`` (one direction of each edge) for :func:`read_tables`.

    Sparse features become one column ``features:F``, dense ones a column each. Pools are not written: when the tables
    are read, the pool of a split is every node outside its parts.
    """
    if format not in FORMATS:
        raise DataFileError(f"unknown table format {format!r} (allowed: {', '.join(FORMATS)})")
    target = Path(folder)
    for other in (f"{stem}.{suffix}" for stem in ("nodes", "edges") for suffix in FORMATS if suffix != format):
        if os.path.exists(target / other):  # False also without permission to look
            raise DataFileError(f"{target} already holds {other}; tables of two formats would be ambiguous")
    with replacing(target / f"nodes.{format}") as nodes, replacing(target / f"edges.{format}") as edges:
        _write(_node_table(graph), nodes, format)
        _write(_edge_table(graph), edges, format)


def _node_table(graph: Graph) -> Any:
    word = next((name for name in graph.class_names if name.strip().lower() in MISSING), None)
    if word is not None:
        raise DataFileError(f"the class {word!r} can't be written to a table: it would be read as a missing label")
    names = np.array([*graph.class_names, None], dtype=object)  # label -1 is the last: None
    columns: dict[str, Any] = {"id": graph.node_ids, "label": pa.array(names[graph.labels], type=pa.string())}
    for k, split in enumerate(graph.splits):
        cells = np.full(graph.num_nodes, None, dtype=object)
        for part in PARTS[:3]:
            cells[getattr(split, part)] = part
        columns["split" if k == 0 else f"split:{split.name}"] = pa.array(cells, pa.string())
    if isinstance(graph.features, sp.csr_array):
        columns[f"features:{graph.num_features}"] = _pairs(graph.features)
    else:
        columns |= {f"f{j}": graph.features[:, j] for j in range(graph.num_features)}
    if len(columns) < 2 + len(graph.splits) + (1 if sp.issparse(graph.features) else graph.num_features):
        raise DataFileError("two splits have the same name: a table needs different ones")
    return pa.table(columns)


def _edge_table(graph: Graph) -> Any:
    upper = sp.triu(graph.adjacency, k=1).tocoo()
    columns = {"source": graph.node_ids[upper.coords[0]], "target": graph.node_ids[upper.coords[1]]}
    if graph.weighted:
        columns["weight"] = upper.data
    return pa.table(columns)


def _pairs(features: sp.csr_array) -> list[str]:
    """Rows as ``3:1.0 17:0.5``, each value with the fewest digits that give it back."""
    texts = features.data.astype(str)
    cells = [f"{index}:{text}" for index, text in zip(features.indices, texts, strict=True)]
    return [" ".join(cells[a:b]) for a, b in zip(features.indptr[:-1], features.indptr[1:], strict=True)]


def _write(table: Any, path: Path, suffix: str) -> None:
    if suffix == "csv":
        arrow_csv.write_csv(_with_cells(table, inert_cell), path)
    else:
        parquet.write_table(table, path)


def _with_cells(table: Any, change: Callable[[str], str]) -> Any:
    """``table`` with ``change`` applied to the texts that a spreadsheet could take for formulas."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and pc.any(pc.match_substring_regex(table[place], FORMULA)).as_py():
            cells = [cell if cell is None else change(cell) for cell in table[place].to_pylist()]
            table = table.set_column(place, field, pa.array(cells, pa.string()))
    return table
