"""Graphs from tables with columns of any type: :func:`from_tables` and the application of a fitted schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError
from drgst.graph.core import UNLABELLED, Graph, make_graph
from drgst.tables.cells import Cells
from drgst.tables.encoders import ENCODERS, CategoryEncoder, Scores, TextEncoder, least_rows
from drgst.tables.faults import Problem, TableError, counted, some
from drgst.tables.infer import infer
from drgst.tables.inspection import Inspection, inspect_tables
from drgst.tables.naming import clean_ids, relabel
from drgst.tables.options import Aggregate, Columns, Endpoints, TableOptions
from drgst.tables.relations import Relation, mean_weight, merged_adjacency, node_columns
from drgst.tables.schema import DroppedColumn, EdgeColumn, TableSchema


@dataclass(frozen=True, eq=False)
class TableGraph:
    """A graph made of tables, and how it was made."""

    graph: Graph
    schema: TableSchema
    relations: Mapping[str, sp.csr_array]  # name -> directed adjacency, (N, N)
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

    Repeated edge rows are aggregated over both directions: ``aggregate`` is ``sum``, ``count``, ``max`` or ``last``
    (by ``time``) of ``weight``, of 1 per row without it. With ``edge_columns``, the number of rows and of distinct
    partners and the sum and mean of each numeric edge column become node columns, for both directions. Ends of edges
    that are not nodes are refused, or added as nodes without features by ``unknown_endpoints="add"``.

    Raises :class:`TableError` with all faults; :func:`check_tables` lists them without raising.
    """
    given = {key: value for key, value in locals().items() if key not in ("nodes", "edges")}
    found = inspect_tables(nodes, edges, TableOptions.of(**given))
    if found.problems:
        raise TableError(found.problems)
    return build_graph(found)


def check_tables(nodes: Any, edges: Any = None, **options: Any) -> list[Problem]:
    """All faults of the tables that :func:`from_tables` would refuse, with the same arguments; empty if there are none.

    Each has file, line or row, column and the option that mends it.
    """
    return inspect_tables(nodes, edges, TableOptions.of(**options)).problems


def build_graph(found: Inspection, classes: tuple[str, ...] | None = None) -> TableGraph:
    """The graph of inspected tables without faults; ``classes`` overrule the classes of the label column."""
    return _Builder(found).fit(classes)


def apply_schema(schema: TableSchema, nodes: Any, edges: Any, base: Graph | None) -> TableGraph:
    """See :meth:`TableSchema.apply`."""
    options = TableOptions.of(label=schema.label, id=schema.id)
    options = replace(options, aggregate=schema.aggregate, unknown_endpoints=schema.unknown_endpoints)
    known = set() if base is None else {str(node) for node in base.node_ids.tolist()}
    found = inspect_tables(nodes, edges, options, schema, known)
    if found.problems:
        raise TableError(found.problems)
    return _Builder(found, base).apply(schema)


class _Builder:
    """The steps from inspected tables without faults to a graph.

    The nodes are those of ``base``, the rows of the node table that are not among them, and the ends of edges that are
    in neither, in this order.
    """

    def __init__(self, found: Inspection, base: Graph | None = None) -> None:
        assert found.nodes is not None
        self.found = found
        self.table, self.cells = found.nodes
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
        schema = self._fit_schema(relations, columns, names)
        return self._graph(schema, relations, columns, labels)

    def apply(self, schema: TableSchema) -> TableGraph:
        """The graph with the features and classes of ``schema``."""
        if self.base is not None and self.base.num_features != len(schema.feature_names):
            width = len(schema.feature_names)
            raise GraphError(f"the base graph has {self.base.num_features} features, but the schema gives {width}")
        relations = self._relations()
        labels, names = self.found.labels()
        columns = self._edge_columns(relations)
        return self._graph(schema, relations, columns, relabel(labels, names, schema.class_names))

    def _graph(
        self, schema: TableSchema, relations: list[Relation], columns: dict[str, np.ndarray], labels: np.ndarray
    ) -> TableGraph:
        features, said = schema.encode(self._cells(), columns, np.arange(len(self.ids) - self.start) >= self.rows.size)
        units = {relation.name: relation.unit for relation in schema.relations}
        adjacency, merged = merged_adjacency(relations, schema.aggregate, len(self.ids), units)
        y = np.concatenate([labels[self.rows], np.full(len(self.added), UNLABELLED)])
        if self.base is not None:
            features = _stacked(self.base.features, features)
            adjacency = adjacency + _padded(self.base.adjacency, len(self.ids))
            y = np.concatenate([self.base.labels, y])
        self.notes += [*said, *merged]
        graph = make_graph(
            features,
            adjacency,
            y,
            class_names=schema.class_names,
            node_ids=clean_ids(self.ids),
            name=self.table.file.partition(".")[0] or "tables",
            notes=self.notes,
            unlabelled=True,
        )
        views = {relation.name: relation.adjacency(schema.aggregate, len(self.ids)) for relation in relations}
        new = self.start + np.arange(self.rows.size)
        return TableGraph(graph, schema, views, tuple(self.notes), new)

    def _fit_schema(
        self, relations: list[Relation], columns: dict[str, np.ndarray], class_names: tuple[str, ...]
    ) -> TableSchema:
        options = self.found.options
        nested = [name for name in self.table.columns if name not in self.cells]
        encoders, dropped = [], {name: f"its type {self.table.data.column(name).type} is not read" for name in nested}
        given = options.kinds()
        for name, cells in self.cells.items():
            if name in (self.found.id, options.label):
                continue
            inferred = infer(name, cells)
            kind = given[name][1] if name in given else inferred.kind
            reason = "dropped by option" if name in options.drop else inferred.reason
            encoder = None if kind is None or name in options.drop else ENCODERS[kind].fit(name, cells)
            if encoder is not None and _is_constant(encoder):
                encoder, reason = None, f"no value occurs in {least_rows(cells.rows)} rows"
            if encoder is None:
                dropped[name] = reason
                continue
            encoders.append(encoder)
            if inferred.note and kind == inferred.kind:
                self.notes.append(f"{self.table.file}: column {name!r}: {inferred.note}")
        varied = {name: x for name, x in columns.items() if np.ptp(x) > 0}
        fitted = {edge.schema.name: edge.schema for edge in self.found.edges}
        several = len(relations) > 1
        units = {r.name: mean_weight(r, options.aggregate, len(self.ids)) if several else 1.0 for r in relations}
        if dropped:
            self.notes.append(f"{self.table.file}: {counted(len(dropped), 'column')} dropped ({some(list(dropped))})")
        return TableSchema(
            id=self.found.id,
            label=options.label,
            class_names=class_names,
            columns=tuple(encoders),
            dropped=tuple(DroppedColumn(column=name, reason=reason) for name, reason in dropped.items()),
            relations=tuple(schema.model_copy(update={"unit": units[name]}) for name, schema in fitted.items()),
            edge_columns=tuple(EdgeColumn(name=name, scale=Scores.fit(x)) for name, x in varied.items()),
            aggregate=options.aggregate,
            unknown_endpoints=options.unknown_endpoints,
            added=bool(self.added),
        )

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
            name: Cells(cells.values, np.concatenate([cells.codes[self.rows], tail]))
            for name, cells in self.cells.items()
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


def _is_constant(encoder: Any) -> bool:
    """Whether no category or word is frequent enough for a column of its own, and no cell is missing."""
    if isinstance(encoder, CategoryEncoder):
        return not encoder.categories and not encoder.flag
    return isinstance(encoder, TextEncoder) and not encoder.words and not encoder.flag


def _stacked(first: Any, second: Any) -> Any:
    if sp.issparse(first):
        return sp.vstack([first, sp.csr_array(second)], format="csr")
    return np.vstack([first, second.toarray() if sp.issparse(second) else second])


def _padded(adjacency: sp.csr_array, nodes: int) -> sp.csr_array:
    """The adjacency with further nodes that have no edges, (N, N)."""
    coo = adjacency.tocoo()
    return sp.csr_array((coo.data, coo.coords), shape=(nodes, nodes))
