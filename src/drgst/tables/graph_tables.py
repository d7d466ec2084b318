"""Graph folders of two tables, one row per node and one row per edge, whose columns have fixed names.

``nodes.csv`` or ``nodes.parquet``
    ``id``        the node's name or number, unique (required)
    ``label``     the class, empty if unknown
    ``split``     ``train``, ``val``, ``test`` or empty; further splits as ``split:NAME``
    ``features``  the node's features as ``index:value`` pairs separated by blanks, indices from 0; ``:1`` may be
                  omitted: ``3:1.0 17:0.5 20``. The name ``features:1433`` also gives their number. In Parquet the
                  column may hold lists of numbers instead.
    any other     one feature (not together with ``features``)

``edges.csv`` or ``edges.parquet``
    ``source``, ``target``  node ids (required)
    ``weight``              0 or above; 1 without this column

The reader and its rules are those of :func:`drgst.from_tables`; the names above are its defaults. Two things differ.
Features that are all numbers, without a missing cell, stay as they are, so that research data keep their values; with
any other cell in the feature columns, all of them are encoded as :func:`drgst.from_tables` does. No features are made
from edges. How repeated rows are aggregated is said in :func:`drgst.tables.relations.undirected`.
"""

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

from drgst.errors import DataFileError, GraphError, NoLabels
from drgst.files import FORMULA, PathLike, inert_cell, reading, replacing
from drgst.graph.core import Graph
from drgst.graph.split import PARTS
from drgst.tables.build import TableGraph
from drgst.tables.cells import MISSING
from drgst.tables.faults import Fault, TableError
from drgst.tables.inspection import NO_LABEL
from drgst.tables.options import TableOptions
from drgst.tables.read import read_graph

FORMATS = ("csv", "parquet")
NAMES = {"id": "id", "label": "label", "source": "source", "target": "target"}


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
    try:
        tables = read_folder(node_path, edge_path, classes)
    except TableError as error:
        if [fault.message for fault in error.faults] == [NO_LABEL]:
            raise NoLabels(str(error)) from error  # labels may be added to the graph
        raise
    return tables.graph.with_(name=name or folder.resolve().name or "graph")


def read_folder(nodes: Path, edges: Path, classes: tuple[str, ...] | None = None, **options: Any) -> TableGraph:
    """The graph of two tables with the fixed names, which ``options`` of :func:`drgst.from_tables` may replace."""
    try:
        tables = read_graph(nodes, edges, folder_options(classes=classes, **options))
    except GraphError as error:
        raise type(error)(f"{nodes}: {error}") from error
    if classes is not None and tables.graph.prepared and tables.graph.num_features:
        message = (
            "not all cells of its columns are numbers, and a graph folder does not say how they were encoded in "
            "fitting: drgst predict RUN --nodes reads them as drgst classify did"
        )
        raise TableError([Fault(nodes.name, message)])
    return tables


def folder_options(**given: Any) -> TableOptions:
    """The options that read the two tables of a graph folder."""
    return TableOptions.of(**{**NAMES, "raw": True, "edge_columns": False, **given})


def try_tables(
    source: PathLike, edges: Any = None, classes: tuple[str, ...] | None = None, **options: Any
) -> tuple[TableGraph | None, tuple[Fault, ...]]:
    """The graph of tables, or all their faults: of :func:`drgst.from_tables` with ``label``, else of a graph folder.

    With ``classes`` labels may be missing.
    """
    try:
        if "label" in options or classes is not None:
            return read_graph(source, edges, TableOptions.of(**options, classes=classes)), ()
        return read_folder(*table_paths(Path(source).expanduser()), **options), ()
    except TableError as error:
        return None, error.faults


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
