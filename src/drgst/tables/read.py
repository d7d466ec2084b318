"""Graphs from tables: :func:`from_tables` for columns of any type, :func:`read_tables` for columns with fixed names.

A graph folder has two tables with one row per node and one row per edge, whose columns have fixed names.

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

The reader and its rules are those of :func:`from_tables`; the names above are its defaults. Two things differ.
Features that are all numbers, without a missing cell, stay as they are, so that research data keep their values; with
any other cell in the feature columns, all of them are encoded as :func:`from_tables` does. No features are made
from edges. Repeated rows are aggregated as described in :func:`drgst.tables.relations.undirected`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from drgst.errors import DataFileError, GraphError, NoLabels
from drgst.files import PathLike, reading
from drgst.graph.core import Graph
from drgst.tables.build import Parts, TableGraph
from drgst.tables.faults import Fault, TableError
from drgst.tables.inspection import Inspection
from drgst.tables.labels import NO_LABEL
from drgst.tables.options import Aggregate, Columns, Duplicates, Endpoints, TableOptions
from drgst.tables.schema import TableSchema

FORMATS = ("csv", "parquet")
NAMES = {"id": "id", "label": "label", "source": "source", "target": "target"}


def from_tables(
    nodes: Any,
    edges: Any = None,
    *,
    label: str,
    id: str | None = None,  # noqa: A002
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    time: str | None = None,
    drop: Columns = (),
    numeric: Columns = (),
    category: Columns = (),
    text: Columns = (),
    date: Columns = (),
    aggregate: Aggregate = "sum",
    unknown_endpoints: Endpoints = "refuse",
    duplicates: Duplicates = "refuse",
    edge_columns: bool = True,
    links: Any = (),
    as_of: str | None = None,
    half_life: str | None = None,
    label_time: str | None = None,
) -> TableGraph:
    """A graph from a table with one row per node and tables with one row per edge, with columns of any type.

    ``nodes`` is a path (CSV of any delimiter, gzip, Parquet), a pandas frame or an Arrow table; ``edges`` is one such
    table, a list or a dict from name to table. ``label`` is the column of classes; empty cells are unlabelled. The
    other roles are found by name or content where they are not given.

    Numbers become normal scores, categories one-hot columns with the rare ones together and, of more than 40, how
    frequent each is, dates their day and cycles, free text TF-IDF of its frequent words; missing cells are imputed and
    flagged. Constant and id-like columns are dropped. ``numeric``, ``category``, ``text`` and ``date`` overrule the
    type that is found, ``drop`` leaves columns out.

    The rows between two nodes, in both directions, are one edge: ``aggregate`` is the ``sum``, ``count``, ``max`` or
    ``last`` (by ``time``) of their ``weight`` (default: the column ``weight``), or of 1 per row without such a column.
    A table that lists every edge in both directions with equal weights counts once. Self-loops and edges of weight 0
    are dropped, and a missing weight is the median. Columns called ``split``, ``split:NAME``, ``features`` and
    ``features:N`` are read as in :func:`read_tables`. With ``edge_columns``, the number of rows and of distinct
    partners and the sum and mean of each numeric edge column become node columns, for both directions. Ends of edges
    that are not nodes are refused; ``unknown_endpoints`` can ``add`` them as nodes without features or ``drop`` their
    rows. Further rows of a node are refused; with ``duplicates="first"`` its first row counts.

    ``links`` relate rows that share something: names of columns of ``nodes``, and :class:`Link` for tables of links to
    entities that have no row. A table whose source are entities of an earlier link continues it, once.

    ``as_of``, a date, leaves out edges and links that are later, so that a back-test has no leak from the future.
    ``half_life``, such as ``30d``, lets an edge or link of that age count half. Columns of links have no time.
    ``label_time`` is the column of ``nodes`` with the times of the labels: those after ``as_of`` are left out, too, and
    notes count the labels that are older than all edges and links of their row, or newer than the last one.

    Raises :class:`TableError` with all faults; :func:`check_tables` lists them without raising.
    """
    given = {key: value for key, value in locals().items() if key not in ("nodes", "edges")}
    return read_graph(nodes, edges, TableOptions.of(**given))


def check_tables(nodes: Any, edges: Any = None, **options: Any) -> list[Fault]:
    """All faults of the tables that :func:`from_tables` would refuse, with the same arguments; empty if there are none.

    Each has file, line or row, column and the option that fixes it.
    """
    try:
        Inspection(nodes, edges, TableOptions.of(**options))
    except TableError as error:
        return list(error.faults)
    return []


def read_graph(nodes: Any, edges: Any, options: TableOptions) -> TableGraph:
    """The graph of tables, or :class:`TableError` with all their faults."""
    parts = Parts(Inspection(nodes, edges, options))
    return parts.graph(TableSchema.fit(parts))


def read_tables(
    nodes: PathLike, edges: PathLike | None = None, name: str | None = None, classes: tuple[str, ...] | None = None
) -> Graph:
    """Read a graph from a folder with ``nodes.*`` and ``edges.*``, or from two files.

    The columns are described in :mod:`drgst.tables.read`. Classes are ordered by number if all labels are whole
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
        first = error.faults[0]
        missing = first.message.startswith("unknown column") and "did you mean" not in first.message
        if len(error.faults) == 1 and first.option == "label" and (missing or first.message == NO_LABEL):
            told = f"drgst suggest {nodes} names nodes to label first, and --add-labels adds their labels"
            raise NoLabels(f"{node_path.name}, column 'label': {NO_LABEL}; {told}") from error
        raise
    return tables.graph.with_(name=name or folder.resolve().name or "graph")


def read_folder(nodes: Path, edges: Path, classes: tuple[str, ...] | None = None, **options: Any) -> TableGraph:
    """The graph of two tables with the fixed names, which ``options`` of :func:`drgst.from_tables` may replace."""
    try:
        given = {**NAMES, "raw": True, "edge_columns": False, "classes": classes, **options}
        tables = read_graph(nodes, edges, TableOptions.of(**given))
    except GraphError as error:
        raise type(error)(f"{nodes}: {error}") from error
    if classes is not None and tables.graph.prepared and tables.graph.num_features:
        message = (
            "not all cells of its columns are numbers, and a graph folder does not say how they were encoded in "
            "fitting: drgst predict RUN --nodes reads them as drgst classify did"
        )
        raise TableError([Fault(nodes.name, message)])
    return tables


def open_tables(
    given: PathLike, edges: Any = None, classes: tuple[str, ...] | None = None, /, **options: Any
) -> TableGraph:
    """The graph of tables: by :func:`from_tables` with ``label``, or with ``classes``, else of a graph folder."""
    if "label" in options or classes is not None:
        return read_graph(given, edges, TableOptions.of(**options, classes=classes))
    return read_folder(*table_paths(Path(given).expanduser()), **options)


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
