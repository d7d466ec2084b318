"""Graphs from tables with columns of any type: :func:`from_tables` and the application of a fitted schema."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError
from drgst.graph.core import UNLABELLED, Graph, make_graph
from drgst.graph.split import Split
from drgst.tables.cells import Cells
from drgst.tables.faults import Fault, TableError, counted, some
from drgst.tables.inspection import Inspection, inspect_tables, is_feature, split_columns
from drgst.tables.kinds import KINDS, detect
from drgst.tables.kinds.base import Column, least_rows
from drgst.tables.kinds.number import NumberColumn, Scores
from drgst.tables.naming import clean_ids, relabel
from drgst.tables.options import Aggregate, Columns, Endpoints, TableOptions
from drgst.tables.relations import Relation, edge_notes, mean_weight, merged_adjacency, node_columns, undirected
from drgst.tables.schema import DroppedColumn, EdgeColumn, TableSchema


@dataclass(frozen=True, eq=False)
class TableGraph:
    """A graph made of tables, and how it was made."""

    graph: Graph
    schema: TableSchema
    notes: tuple[str, ...]  # what was changed, imputed, dropped or not used, one sentence each
    new: np.ndarray  # the nodes of the node table, in its order; all but those of ``base`` and those added

    @property
    def report(self) -> str:
        """What became of each column, and the notes."""
        return "\n".join([self.schema.describe(), *(f"- {note}" for note in self.notes)])


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
    return inspect_tables(nodes, edges, TableOptions.of(**options)).faults


def read_graph(nodes: Any, edges: Any, options: TableOptions, classes: tuple[str, ...] | None = None) -> TableGraph:
    """The graph of tables, or :class:`TableError` with all their faults.

    ``classes`` are those of a model that will predict the graph; they replace those of the label column.
    """
    found = inspect_tables(nodes, edges, options)
    if found.faults:
        raise TableError(found.faults)
    return _Builder(found).fit(classes)


def apply_schema(schema: TableSchema, nodes: Any, edges: Any, base: Graph | None) -> TableGraph:
    """See :meth:`TableSchema.apply`."""
    options = TableOptions.of(label=schema.label, id=schema.id)
    options = replace(options, aggregate=schema.aggregate, unknown_endpoints=schema.unknown_endpoints)
    known = set() if base is None else {str(node) for node in base.node_ids.tolist()}
    found = inspect_tables(nodes, edges, options, schema, known)
    if found.faults:
        raise TableError(found.faults)
    return _Builder(found, base).apply(schema)


class _Builder:
    """The steps from inspected tables without faults to a graph.

    The nodes are those of ``base``, the rows of the node table that are not among them, and the ends of edges that are
    in neither, in this order.
    """

    def __init__(self, found: Inspection, base: Graph | None = None) -> None:
        assert found.nodes is not None
        self.found = found
        self.table, self.cells = found.nodes.table, found.nodes.cells
        self.base = base
        self.notes = list(found.notes)
        old = [] if base is None else [str(node) for node in base.node_ids.tolist()]
        known = set(old)
        self.start = len(old)
        self.rows = np.array([k for k, text in enumerate(found.ids) if text not in known], dtype=np.int64)
        self.ids = [*old, *(found.ids[k] for k in self.rows)]
        known.update(self.ids)
        self.added = list(dict.fromkeys(text for edge in found.edges for text in edge.unknown_ends(known)))
        self.ids += self.added
        self._note_nodes()

    def fit(self, classes: tuple[str, ...] | None) -> TableGraph:
        """The graph with a schema of its own."""
        relations = self._relations()
        columns = self._edge_columns(relations) if self.found.options.edge_columns else {}
        labels, names = self.found.labels()
        if classes is not None:
            labels, names = relabel(labels, names, classes), classes
        uppers = self._pairs(relations, self.found.options.aggregate)
        schema = self._fit_schema(uppers, columns, names)
        return self._graph(schema, uppers, columns, labels)

    def apply(self, schema: TableSchema) -> TableGraph:
        """The graph with the features and classes of ``schema``."""
        if self.base is not None and self.base.num_features != schema.num_features:
            width = schema.num_features
            raise GraphError(f"the base graph has {self.base.num_features} features, but the schema gives {width}")
        relations = self._relations()
        labels, names = self.found.labels()
        columns = self._edge_columns(relations)
        uppers = self._pairs(relations, schema.aggregate)
        return self._graph(schema, uppers, columns, relabel(labels, names, schema.class_names))

    def _graph(
        self, schema: TableSchema, uppers: dict[str, Any], columns: dict[str, np.ndarray], labels: np.ndarray
    ) -> TableGraph:
        features, notes = self._features(schema, columns)
        units = {relation.name: relation.unit for relation in schema.relations}
        adjacency = merged_adjacency(uppers, units, len(self.ids))
        y = np.concatenate([labels[self.rows], np.full(len(self.added), UNLABELLED)])
        if self.base is not None:
            features = _stacked(self.base.features, features)
            adjacency = adjacency + _padded(self.base.adjacency, len(self.ids))
            y = np.concatenate([self.base.labels, y])
        self.notes += notes
        graph = make_graph(
            features,
            adjacency,
            y,
            class_names=schema.class_names,
            node_ids=clean_ids(self.ids),
            name=self.table.file.partition(".")[0] or "tables",
            splits=[Split.of(s.train, s.val, s.test, len(self.ids), name=s.name) for s in self.found.splits],
            notes=self.notes,
            unlabelled=True,
        )
        new = self.start + np.arange(self.rows.size)
        return TableGraph(graph.with_(prepared=schema.prepared), schema, tuple(self.notes), new)

    def _features(self, schema: TableSchema, columns: dict[str, np.ndarray]) -> tuple[Any, list[str]]:
        """X of the nodes after those of ``base``, and notes."""
        assert self.found.nodes is not None
        raw = self.found.nodes.raw
        if not raw:
            return schema.encode(self._cells(), columns, np.arange(len(self.ids) - self.start) >= self.rows.size)
        x = np.column_stack(list(raw.values()))[self.rows]
        return np.vstack([x, np.zeros((len(self.added), x.shape[1]), dtype=np.float32)]), []

    def _pairs(self, relations: list[Relation], how: Aggregate) -> dict[str, sp.csr_array]:
        """Relation -> weights of unordered pairs, (N, N) above the diagonal; adds notes on what was merged."""
        files = {edge.schema.name: edge.table.file for edge in self.found.edges}
        uppers: dict[str, sp.csr_array] = {}
        for relation in relations:
            upper, both_ways = undirected(relation, how, len(self.ids))
            self.notes += edge_notes(relation.source.size, upper.nnz, both_ways, how, files[relation.name])
            zeros = int((upper.data == 0).sum())
            if zeros:
                self.notes.append(f"{counted(zeros, 'edge')} of weight 0 dropped")
            upper.eliminate_zeros()
            uppers[relation.name] = upper
        return uppers

    def _fit_schema(
        self, uppers: dict[str, sp.csr_array], columns: dict[str, np.ndarray], class_names: tuple[str, ...]
    ) -> TableSchema:
        options = self.found.options
        fitted, dropped = self._fit_columns()
        varied = {name: x for name, x in columns.items() if np.ptp(x) > 0}
        several = len(uppers) > 1
        relations = {edge.schema.name: edge.schema for edge in self.found.edges}
        units = {name: mean_weight(upper) if several else 1.0 for name, upper in uppers.items()}
        if dropped:
            self.notes.append(f"{self.table.file}: {counted(len(dropped), 'column')} dropped ({some(list(dropped))})")
        dropped |= dict.fromkeys(split_columns(self.found), "the split of the nodes")
        return TableSchema(
            id=self.found.id,
            label=options.label if options.label in self.table.columns else None,
            class_names=class_names,
            columns=tuple(fitted),
            dropped=tuple(DroppedColumn(column=name, reason=reason) for name, reason in dropped.items()),
            relations=tuple(schema.model_copy(update={"unit": units[name]}) for name, schema in relations.items()),
            edge_columns=tuple(EdgeColumn(name=name, scale=Scores.fit(x)) for name, x in varied.items()),
            aggregate=options.aggregate,
            unknown_endpoints=options.unknown_endpoints,
            added=bool(self.added) and not self._raw,
        )

    @property
    def _raw(self) -> bool:
        return self.found.nodes is not None and bool(self.found.nodes.raw)

    def _fit_columns(self) -> tuple[list[Column], dict[str, str]]:
        """The columns that give features, and name -> reason of the others."""
        options, given = self.found.options, self.found.options.kinds()
        assert self.found.nodes is not None
        if self._raw:
            return [NumberColumn(column=name) for name in self.found.nodes.raw], {}
        unread = [name for name in self.table.columns if name not in self.cells]
        dropped = {name: f"its type {self.table.data.column(name).type} is not read" for name in unread}
        roles = {self.found.id, options.label, *split_columns(self.found)}
        fitted: list[Column] = []
        for name, cells in self.cells.items():
            if name in roles:
                continue
            if name in options.drop:
                dropped[name] = "dropped by option"
                continue
            found, detected = detect(name, cells)
            kind = given[name][1] if name in given else found
            column = None if kind is None else KINDS[kind].fit(name, cells)
            if column is None or column.useless:
                dropped[name] = (
                    detected.dropped if column is None else f"no value occurs in {least_rows(cells.rows)} rows"
                )
                continue
            fitted.append(column)
            if detected.note and kind == found:
                self.notes.append(f"{self.table.file}: column {name!r}: {detected.note}")
        if options.raw and any(map(is_feature, self.table.columns)):
            self.notes.append(
                f"{self.table.file}: not all cells of its columns are numbers, so the columns are encoded"
            )
        return fitted, dropped

    def _relations(self) -> list[Relation]:
        index = {text: k for k, text in enumerate(self.ids)}
        relations = []
        for edge in self.found.edges:
            relation, said = edge.read(index)
            relations.append(relation)
            self.notes += said
        return relations

    def _edge_columns(self, relations: list[Relation]) -> dict[str, np.ndarray]:
        """Node columns from edges, of the nodes after those of ``base``."""
        found: dict[str, np.ndarray] = {}
        for relation in relations:
            found |= {name: x[self.start :] for name, x in node_columns(relation, len(self.ids)).items()}
        return found

    def _cells(self) -> dict[str, Cells]:
        """The columns of the node table, with missing cells for the nodes that were added."""
        tail = np.full(len(self.added), -1, dtype=np.int64)
        return {
            name: cells.with_rows(np.concatenate([cells.codes[self.rows], tail])) for name, cells in self.cells.items()
        }

    def _note_nodes(self) -> None:
        skipped = len(self.found.ids) - self.rows.size
        if skipped:
            self.notes.append(f"{self.table.file}: {counted(skipped, 'row')} of nodes of the fitted graph left out")
        if self.added:
            self.notes.append(
                f"{counted(len(self.added), 'end')} of edges not in {self.table.file} added as nodes without features "
                f"({some(self.added)})"
            )


def _stacked(first: Any, second: Any) -> Any:
    if sp.issparse(first):
        return sp.vstack([first, sp.csr_array(second)], format="csr")
    return np.vstack([first, second.toarray() if sp.issparse(second) else second])


def _padded(adjacency: sp.csr_array, nodes: int) -> sp.csr_array:
    """The adjacency with further nodes that have no edges, (N, N)."""
    coo = adjacency.tocoo()
    return sp.csr_array((coo.data, coo.coords), shape=(nodes, nodes))
