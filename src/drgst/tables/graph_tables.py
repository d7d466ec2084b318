"""Graphs as two tables with one row per node and one row per edge.

``nodes.csv`` or ``nodes.parquet``
    ``id``        the node's name or number, unique (required)
    ``label``     the class, empty if unknown
    ``split``     ``train``, ``val``, ``test`` or empty; further splits as ``split:NAME``
    ``features``  the node's features as ``index:value`` pairs separated by blanks, indices from 0; ``:1`` may be
                  omitted: ``3:1.0 17:0.5 20``. The name ``features:1433`` also gives their number. In Parquet the
                  column may hold lists of numbers instead.
    any other     one feature, a number in every row (not together with ``features``)

``edges.csv`` or ``edges.parquet``
    ``source``, ``target``  node ids (required)
    ``weight``              finite and above 0; 1 without this column

One direction of each edge is enough. Other columns of the edge table are not used.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from drgst.errors import DataFileError, GraphError
from drgst.files import PathLike, reading, replacing
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.split import PARTS, Split
from drgst.tables.columns import dense_features, edge_ends, edge_weights, listed_features, read_split
from drgst.tables.files import FORMATS, read_table, write_table
from drgst.tables.naming import clean_ids, encode_labels, relabel


def read_tables(
    nodes: PathLike, edges: PathLike | None = None, name: str | None = None, classes: tuple[str, ...] | None = None
) -> Graph:
    """Read a graph from a folder with ``nodes.*`` and ``edges.*``, or from two files.

    The columns are described in :mod:`drgst.tables.graph_tables`. Classes are ordered by number if all labels are whole
    numbers, else by name. ``name`` defaults to the name of the folder. ``classes`` are the class names of a model that
    will predict the graph: labels may then be missing, and other labels count as unknown.
    """
    if edges is None:
        folder = Path(nodes)
        node_path, edge_path = table_paths(folder)
    else:
        folder, node_path, edge_path = Path(nodes).parent, _checked(Path(nodes)), _checked(Path(edges))
    node_table = read_table(node_path, ("id",), lambda column: column_role(column) == "feature")
    edge_table = read_table(edge_path, ("source", "target"), lambda column: column == "weight")
    try:
        ids = clean_ids(node_table.column("id").to_pylist())
        labels, names = _labels(node_table)
        if classes is not None:
            labels, names = relabel(labels, names, classes), classes
        return make_graph(
            _features(node_table, node_path),
            _adjacency(edge_table, edge_path, ids),
            labels,
            class_names=names,
            node_ids=ids,
            name=name or folder.resolve().name or "graph",
            splits=_splits(node_table, node_path),
            notes=_unused(edge_table, edge_path),
            unlabelled=classes is not None,
        )
    except GraphError as error:
        raise type(error)(f"{node_path}: {error}") from error


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
        write_table(_node_table(graph), nodes, format)
        write_table(_edge_table(graph), edges, format)


def table_paths(path: Path) -> tuple[Path, Path]:
    """The paths of the node table and the edge table, given their folder or one of both."""
    tables = path.suffix.removeprefix(".") in FORMATS and not path.is_dir()
    return sibling_tables(path) if tables else (_table_in(path, "nodes"), _table_in(path, "edges"))


def sibling_tables(path: Path) -> tuple[Path, Path]:
    """The paths of the node table and the edge table, given one: ``my_nodes.csv`` belongs to ``my_edges.csv``."""
    for mine, other in (("nodes", "edges"), ("edges", "nodes")):
        if mine in path.stem:
            sibling = path.with_name(path.name.replace(mine, other))
            return (path, sibling) if mine == "nodes" else (sibling, path)
    raise DataFileError(f"{path} is not a graph: a table must be called nodes{path.suffix} or edges{path.suffix}")


def column_role(column: str) -> str:
    """The role of a column of the node table: id, label, split, features or (one) feature."""
    head = column.partition(":")[0]
    return head if column in ("id", "label") or head in ("split", "features") else "feature"


def _features(table: Any, path: Path) -> Any:
    listed = [column for column in table.column_names if column_role(column) == "features"]
    single = [column for column in table.column_names if column_role(column) == "feature"]
    if len(listed) > 1 or (listed and single):
        raise DataFileError(f"{path}: beside {listed[0]!r} there can be no column {(listed[1:] + single)[0]!r}")
    if listed:
        return listed_features(table.column(listed[0]), listed[0], path)
    return dense_features(table, single, path)


def _labels(table: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    if "label" not in table.column_names:
        return np.full(table.num_rows, -1), ()
    return encode_labels(table.column("label").to_pylist())


def _adjacency(table: Any, path: Path, ids: np.ndarray) -> sp.coo_array:
    source, target = (edge_ends(table.column(name), name, ids, path) for name in ("source", "target"))
    weights = edge_weights(table.column("weight"), path) if "weight" in table.column_names else None
    return edge_matrix(source, target, ids.size, weights)


def _splits(table: Any, path: Path) -> list[Split]:
    columns = [column for column in table.column_names if column_role(column) == "split"]
    found = (read_split(table.column(column), column, path) for column in columns)
    return [split for split in found if split is not None]


def _unused(table: Any, path: Path) -> list[str]:
    others = [column for column in table.column_names if column not in ("source", "target", "weight")]
    return [f"{path.name}: column {others[0]!r} is not used"] if others else []


def _table_in(folder: Path, stem: str) -> Path:
    with reading(folder):
        found = [folder / f"{stem}.{suffix}" for suffix in FORMATS if (folder / f"{stem}.{suffix}").is_file()]
        if not folder.is_dir():
            raise DataFileError(f"{folder} is not a folder with {stem}.csv or {stem}.parquet")
    if not found:
        raise DataFileError(f"{folder} holds neither {stem}.csv nor {stem}.parquet; one of them is needed")
    if len(found) > 1:
        raise DataFileError(f"{folder} holds both {stem}.csv and {stem}.parquet; only one of them is allowed")
    return found[0]


def _checked(path: Path) -> Path:
    if path.suffix.removeprefix(".") not in FORMATS:
        raise DataFileError(f"{path} is not a table: .csv and .parquet are read")
    return path


def _node_table(graph: Graph) -> Any:
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
