"""Graphs as two tables that anybody can write: one row per node, one row per edge.

``nodes.csv`` or ``nodes.parquet``
    ``id``        the node's name or number, unique (needed)
    ``label``     the class, empty where unknown
    ``split``     ``train``, ``val``, ``test`` or empty; further splits as ``split:NAME``
    ``features``  the node's features as ``index:value`` pairs set apart by blanks, indices from 0, ``:1`` may be left
                  out: ``3:1.0 17:0.5 20``. Called ``features:1433`` it also says how many there are. In Parquet it may
                  hold lists of numbers instead.
    any other     one feature each, a number in every row (not together with ``features``)

``edges.csv`` or ``edges.parquet``
    ``source``, ``target``  ids of nodes (needed)
    ``weight``              finite and above 0; 1 where there is no such column

An edge need be listed in one direction only. Columns of the edge table with other names are not used.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import DataFileError, GraphError
from drgst.graph.core import Graph, make_graph
from drgst.graph.io.naming import clean_ids, encode_labels, relabel
from drgst.graph.io.table_columns import (
    dense_features,
    edge_ends,
    edge_weights,
    listed_features,
    read_split,
)
from drgst.graph.io.table_files import FORMATS, read_table
from drgst.graph.split import Split

PathLike = str | os.PathLike[str]


def read_tables(
    nodes: PathLike, edges: PathLike | None = None, name: str | None = None, classes: tuple[str, ...] | None = None
) -> Graph:
    """The graph in a folder with ``nodes.*`` and ``edges.*``, or in the two files named.

    The columns are described in :mod:`drgst.graph.io.tables`. Classes are ordered by number where all labels are whole
    numbers, else by name. ``name`` defaults to the folder's. With ``classes``, those of a model, the graph is only to
    be predicted: labels may be missing, and one that is none of the classes counts as unknown.
    """
    if edges is None:
        folder = Path(nodes)
        node_path, edge_path = _table_in(folder, "nodes"), _table_in(folder, "edges")
    else:
        folder, node_path, edge_path = Path(nodes).parent, _checked(Path(nodes)), _checked(Path(edges))
    node_table = read_table(node_path, ("id",), lambda column: _role(column) == "feature")
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
        raise GraphError(f"{node_path}: {error}") from error


def sibling_tables(path: Path) -> tuple[Path, Path]:
    """The node table and the edge table from the path of one: ``my_nodes.csv`` goes with ``my_edges.csv``."""
    for mine, other in (("nodes", "edges"), ("edges", "nodes")):
        if mine in path.stem:
            sibling = path.with_name(path.name.replace(mine, other))
            return (path, sibling) if mine == "nodes" else (sibling, path)
    raise DataFileError(f"{path} is not a graph: a table must be called nodes{path.suffix} or edges{path.suffix}")


def _role(column: str) -> str:
    """What a column of the node table is: id, label, split, features or one feature."""
    head = column.partition(":")[0]
    if column in ("id", "label") or head in ("split", "features"):
        return head
    return "feature"


def _features(table: Any, path: Path) -> Any:
    listed = [column for column in table.column_names if _role(column) == "features"]
    single = [column for column in table.column_names if _role(column) == "feature"]
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
    source = edge_ends(table.column("source"), "source", ids, path)
    target = edge_ends(table.column("target"), "target", ids, path)
    if "weight" in table.column_names:
        weights = edge_weights(table.column("weight"), path)
    else:
        weights = np.ones(source.size, dtype=np.float32)
    return sp.coo_array((weights, (source, target)), shape=(ids.size, ids.size))


def _splits(table: Any, path: Path) -> list[Split]:
    columns = [column for column in table.column_names if _role(column) == "split"]
    found = (read_split(table.column(column), column, path) for column in columns)
    return [split for split in found if split is not None]


def _unused(table: Any, path: Path) -> list[str]:
    others = [column for column in table.column_names if column not in ("source", "target", "weight")]
    return [f"{path.name}: column {others[0]!r} is not used"] if others else []


def _table_in(folder: Path, stem: str) -> Path:
    try:
        found = [folder / f"{stem}.{suffix}" for suffix in FORMATS if (folder / f"{stem}.{suffix}").is_file()]
        if not folder.is_dir():
            raise DataFileError(f"{folder} is not a folder with {stem}.csv or {stem}.parquet")
    except OSError as error:
        raise DataFileError(f"can't read {folder}: {error.strerror or error}") from error
    if not found:
        raise DataFileError(f"{folder} holds neither {stem}.csv nor {stem}.parquet; one of them is needed")
    if len(found) > 1:
        raise DataFileError(f"{folder} holds both {stem}.csv and {stem}.parquet; only one of them is allowed")
    return found[0]


def _checked(path: Path) -> Path:
    if path.suffix.removeprefix(".") not in FORMATS:
        raise DataFileError(f"{path} is not a table: .csv and .parquet are read")
    return path
