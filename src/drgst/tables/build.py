"""From inspected tables to a graph, given the schema that is fitted to them or applied to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError
from drgst.graph.core import UNLABELLED, Graph, make_graph
from drgst.graph.relation import Relation
from drgst.graph.split import Split
from drgst.tables.cells import Cells
from drgst.tables.faults import counted, some
from drgst.tables.inspection import Inspection
from drgst.tables.links import with_base
from drgst.tables.naming import clean_ids, relabel
from drgst.tables.relations import edge_notes, label_notes
from drgst.transforms.edges import EdgeRows, merged_adjacency, node_columns, undirected

if TYPE_CHECKING:
    from drgst.tables.schema import TableSchema


@dataclass(frozen=True, eq=False)
class TableGraph:
    """A graph made of tables, and how it was made."""

    graph: Graph
    schema: TableSchema
    notes: tuple[str, ...]  # what was changed, imputed, dropped or not used, one sentence each
    new: np.ndarray  # the nodes of the node table, in its order; all but those of ``base`` and those added
    table: Any = None  # the node table as it was given, a pyarrow.Table

    @property
    def report(self) -> str:
        """What became of each column, and the notes."""
        return "\n".join([self.schema.describe(), *(f"- {note}" for note in self.notes)])

    def __repr__(self) -> str:
        return f"TableGraph({self.graph!r}; print(tables.report) shows what became of each column)"


class Parts:
    """The parts of a graph: nodes, edges and node columns from edges.

    The nodes are those of ``base``, the rows of the node table that are not among them, and the ends of edges that are
    in neither, in this order.
    """

    def __init__(self, found: Inspection, base: Graph | None = None) -> None:
        self.found, self.base = found, base
        self.notes = list(found.notes)
        old = [] if base is None else [str(node) for node in base.node_ids.tolist()]
        self.start = len(old)
        known = set(old)
        self.rows = np.array([k for k, text in enumerate(found.ids) if text not in known], dtype=np.int64)
        ids = dict.fromkeys([*old, *(found.ids[k] for k in self.rows)])
        ends = (text for edge in found.edges for texts in edge.ends.values() for text in texts)
        drop = found.options.unknown_endpoints == "drop"
        self.added = [] if drop else list(dict.fromkeys(text for text in ends if text not in ids))
        self.ids = [*ids, *self.added]
        self._note_nodes()
        self.index = {text: k for k, text in enumerate(self.ids)}
        self.relations: list[EdgeRows] = []
        for edge in found.edges:
            relation, notes = edge.rows(self.index)
            self.relations.append(relation)
            self.notes += notes
        self.notes += self._label_notes()

    @cached_property
    def pairs(self) -> dict[str, sp.csr_array]:
        """Relation -> weights of unordered pairs, (N, N) above the diagonal; adds notes on what was merged."""
        how = self.found.options.aggregate
        found: dict[str, sp.csr_array] = {}
        for relation, edge in zip(self.relations, self.found.edges, strict=True):
            upper, both_ways = undirected(relation, how, len(self.ids))
            self.notes += edge_notes(relation.source.size, upper.nnz, both_ways, how, edge.table.file)
            zeros = int((upper.data == 0).sum())
            if zeros:
                self.notes.append(f"{counted(zeros, 'edge')} of weight 0 dropped")
            upper.eliminate_zeros()
            found[relation.name] = upper
        return found

    @cached_property
    def edge_columns(self) -> dict[str, np.ndarray]:
        """Node columns from edges, of the nodes after those of ``base``."""
        if not self.found.options.edge_columns:
            return {}
        found = [node_columns(relation, len(self.ids)) for relation in self.relations]
        return {name: x[self.start :] for columns in found for name, x in columns.items()}

    def graph(self, schema: TableSchema) -> TableGraph:
        """The graph with the features and classes of ``schema``."""
        base, count = self.base, len(self.ids)
        if base is not None and base.num_features != schema.num_features:
            width = schema.num_features
            raise GraphError(f"the base graph has {base.num_features} features, but the schema gives {width}")
        units = {relation.name: relation.unit for relation in schema.relations}
        adjacency = merged_adjacency(self.pairs, units, count)
        new = self.start + np.arange(self.rows.size)
        nodes = np.full(len(self.found.ids), -1)
        nodes[self.rows] = new
        made: dict[str, Relation] = {}
        for link in self.found.links:
            made[link.schema.name] = link.relation(self.index, nodes, made)
        relations = with_base(made, () if base is None else base.relations, count)
        features = self._features(schema, {relation.name: relation for relation in relations})
        labels = relabel(self.found.labels, self.found.class_names, schema.class_names)
        y = np.concatenate([labels[self.rows], np.full(len(self.added), UNLABELLED)])
        if base is not None:
            if sp.issparse(base.features):
                features = sp.vstack([base.features, sp.csr_array(features)], format="csr")
            else:
                features = np.vstack([base.features, features.toarray() if sp.issparse(features) else features])
            old = base.adjacency.tocoo()
            adjacency = adjacency + sp.csr_array((old.data, old.coords), shape=(count, count))
            y = np.concatenate([base.labels, y])
        graph = make_graph(
            features,
            adjacency,
            y,
            class_names=schema.class_names,
            node_ids=clean_ids(self.ids),
            name=self.found.table.file.partition(".")[0] or "tables",
            splits=[Split.of(s.train, s.val, s.test, count, name=s.name) for s in self.found.splits],
            notes=self.notes,
            unlabelled=True,
        )
        graph = graph.with_(prepared=schema.prepared, relations=tuple(relations))
        return TableGraph(graph, schema, tuple(self.notes), new, self.found.table.data)

    def _features(self, schema: TableSchema, links: Mapping[str, Relation]) -> Any:
        """X of the nodes after those of ``base``; nodes that were added have missing cells."""
        table = self.found.table
        if table.raw:
            x = np.column_stack(list(table.raw.values()))[self.rows]
            return np.vstack([x, np.zeros((len(self.added), x.shape[1]), dtype=np.float32)])
        tail = np.full(len(self.added), -1, dtype=np.int64)
        cells: dict[str, Cells] = {}
        for name, column in table.cells.items():
            cells[name] = column.with_rows(np.concatenate([column.codes[self.rows], tail]))
        count = len(self.ids) - self.start
        described = [entity.block(table, links.get(entity.link), count) for entity, table in self.found.entities]
        x, notes = schema.encode(cells, self.edge_columns, np.arange(count) >= self.rows.size, described)
        self.notes += notes
        return x

    def _label_notes(self) -> list[str]:
        """What the times of labels, of edges and of links tell about each other."""
        found, times = self.found, np.full(len(self.ids), np.nan)
        if found.label_times is None:
            return []
        times[self.start : self.start + self.rows.size] = found.label_times[self.rows]
        dated = [r for r, edge in zip(self.relations, found.edges, strict=True) if edge.schema.time is not None]
        moments = [(end, r.time) for r in dated for end in (r.source, r.target)]
        moments += [link.moments(self.index) for link in found.links]
        return [f"{found.table.file}: {note}" for note in label_notes(times, moments)]

    def _note_nodes(self) -> None:
        file = self.found.table.file
        skipped = len(self.found.ids) - self.rows.size
        if skipped:
            self.notes.append(f"{file}: {counted(skipped, 'row')} of nodes of the fitted graph left out")
        if self.added:
            added = f"{counted(len(self.added), 'end')} of edges not in {file} added as nodes without features"
            self.notes.append(f"{added} ({some(self.added)})")
