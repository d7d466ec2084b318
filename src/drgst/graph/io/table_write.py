"""A graph written as the two tables of :mod:`drgst.graph.io.tables`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError
from drgst.files import replacing
from drgst.graph.core import Graph
from drgst.graph.io.table_files import FORMATS
from drgst.graph.split import Split


def write_tables(
    graph: Graph,
    folder: str | os.PathLike[str],
    format: Literal["csv", "parquet"] = "csv",  # noqa: A002 - what pandas and PyG call it too
) -> None:
    """Write ``nodes.*`` and ``edges.*`` (each pair once) that :func:`~drgst.graph.io.tables.read_tables` reads.

    Sparse features become one ``features:F`` column, dense ones a column each. The pool of a split is not written:
    when it is read again, it is every node outside the split's parts.
    """
    if format not in FORMATS:
        raise DataFileError(f"unknown table format {format!r} (allowed: {', '.join(FORMATS)})")
    target = Path(folder)
    for other in (f"{stem}.{suffix}" for stem in ("nodes", "edges") for suffix in FORMATS if suffix != format):
        if os.path.exists(target / other):  # False also where it may not be looked at
            raise DataFileError(f"{target} already holds {other}; tables of two formats would be ambiguous")
    with replacing(target / f"nodes.{format}") as nodes, replacing(target / f"edges.{format}") as edges:
        _write(node_table(graph), nodes, format)
        _write(edge_table(graph), edges, format)


def node_table(graph: Graph) -> Any:
    """The node table of ``graph`` as a :class:`pyarrow.Table`."""
    import pyarrow as pa

    names = np.array([*graph.class_names, None], dtype=object)  # label -1 picks the last: none
    columns: dict[str, Any] = {"id": graph.node_ids, "label": pa.array(names[graph.labels], type=pa.string())}
    for k, split in enumerate(graph.splits):
        columns["split" if k == 0 else f"split:{split.name}"] = pa.array(_parts(split, graph.num_nodes), pa.string())
    if isinstance(graph.features, sp.csr_array):
        columns[f"features:{graph.num_features}"] = _pairs(graph.features)
    else:
        columns |= {f"f{j}": graph.features[:, j] for j in range(graph.num_features)}
    if len(columns) < 2 + len(graph.splits) + (1 if sp.issparse(graph.features) else graph.num_features):
        raise DataFileError("two splits have the same name: a table needs different ones")
    return pa.table(columns)


def edge_table(graph: Graph) -> Any:
    """The edge table of ``graph``, each pair once, with weights where they differ from 1."""
    import pyarrow as pa

    upper = sp.triu(graph.adjacency, k=1).tocoo()
    columns = {"source": graph.node_ids[upper.coords[0]], "target": graph.node_ids[upper.coords[1]]}
    if graph.weighted:
        columns["weight"] = upper.data
    return pa.table(columns)


def _parts(split: Split, count: int) -> list[str | None]:
    cells: list[str | None] = [None] * count
    for part in ("train", "val", "test"):
        for node in getattr(split, part):
            cells[node] = part
    return cells


def _pairs(features: sp.csr_array) -> list[str]:
    """Rows as ``3:1.0 17:0.5``, every value in the fewest digits that give it back."""
    texts = features.data.astype(str)
    cells = [f"{index}:{text}" for index, text in zip(features.indices, texts, strict=True)]
    return [" ".join(cells[a:b]) for a, b in zip(features.indptr[:-1], features.indptr[1:], strict=True)]


def _write(table: Any, path: Path, suffix: str) -> None:
    from pyarrow import csv, parquet

    if suffix == "csv":
        csv.write_csv(table, path)
    else:
        parquet.write_table(table, path)
