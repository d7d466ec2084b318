"""Graphs from tables with columns of any type: :func:`from_tables`."""

from __future__ import annotations

from typing import Any

from drgst.tables.build import Parts, TableGraph
from drgst.tables.faults import Fault, TableError
from drgst.tables.inspection import Inspection
from drgst.tables.options import Aggregate, Columns, Endpoints, TableOptions
from drgst.tables.schema import TableSchema


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
    edge_columns: bool = True,
) -> TableGraph:
    """A graph from a table with one row per node and tables with one row per edge, with columns of any type.

    ``nodes`` is a path (CSV of any delimiter, gzip, Parquet), a pandas frame or an Arrow table; ``edges`` is one such
    table, a list or a dict from name to table. ``label`` is the column of classes; empty cells are unlabelled. The
    other roles are found by name or content where they are not given.

    Numbers become normal scores, categories one-hot columns with the rare ones together, dates their day and cycles,
    free text TF-IDF of its frequent words; missing cells are imputed and flagged. Constant and id-like columns are
    dropped. ``numeric``, ``category``, ``text`` and ``date`` overrule the type that is found, ``drop`` leaves columns
    out.

    The rows between two nodes, in both directions, are one edge: ``aggregate`` is the ``sum``, ``count``, ``max`` or
    ``last`` (by ``time``) of their ``weight`` (default: the column ``weight``), or of 1 per row without such a column.
    A table that lists every edge in both directions with equal weights counts once. Self-loops and edges of weight 0
    are dropped, and a missing weight is the median. Columns called ``split``, ``split:NAME``, ``features`` and
    ``features:N`` are read as in :func:`read_tables`. With ``edge_columns``, the number of rows and of distinct
    partners and the sum and mean of each numeric edge column become node columns, for both directions. Ends of edges
    that are not nodes are refused, or added as nodes without features by ``unknown_endpoints="add"``.

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
