"""Opening of a node table and its edge tables, and the search for all their faults at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.graph.split import PARTS, Split
from drgst.tables.columns import (
    bad_ids,
    cell_faults,
    column_rows,
    column_table,
    find_id,
    find_relation,
    fit_columns,
    option_faults,
)
from drgst.tables.faults import Fault, TableError, counted, named_columns, some
from drgst.tables.labels import LabelReader
from drgst.tables.links import EntitySchema, LinkSchema, LinkTable, clean_name, find_link
from drgst.tables.naming import are_whole
from drgst.tables.options import Link, TableOptions
from drgst.tables.relations import EdgeTable, Period, RelationSchema
from drgst.tables.source import Table, open_table

if TYPE_CHECKING:
    from drgst.tables.schema import TableSchema


class Inspection:
    """The tables with the role of each column.

    With ``schema`` the roles are those of fitting and labels are optional. ``known`` are further ids that edges may
    lead to. Raises :class:`TableError` with all faults.
    """

    def __init__(
        self,
        nodes: Any,
        edges: Any,
        options: TableOptions,
        schema: TableSchema | None = None,
        known: Set[str] = frozenset(),
    ) -> None:
        self.options, self.schema, self.known = options, schema, known
        self.period = Period(options.as_of, options.half_life)
        self.faults: list[Fault] = []
        self.notes: list[str] = []
        self.id: str | None = None
        self.ids: list[str] = []  # of the rows of the node table
        self.splits: list[Split] = []
        self.edges: list[EdgeTable] = []
        self.links: list[LinkTable] = []
        self.entities: list[tuple[EntitySchema, Table | None]] = []
        fitted = [] if schema is None else [column.column for column in schema.columns]
        fitted += [] if schema is None else [name for name in (schema.id, schema.label) if name is not None]
        ends = [] if schema is None else [name for relation in schema.relations for name in relation.columns]
        report = ""
        table = self._open(nodes, "nodes", fitted, options.raw)
        self._link_tables = {k: self._open_link(link) for k, link in enumerate(options.links) if isinstance(link, Link)}
        opened = {name: self._open(given, name, ends) for name, given in _edge_tables(edges).items()}
        if table is not None and not table.data.num_rows:
            self.faults.append(table.fault("has no rows below its header"))
        elif table is not None:
            self.table = table
            self._inspect({name: edge for name, edge in opened.items() if edge is not None})
            report = self._report() if self.faults else ""
        if self.faults:
            raise TableError(self.faults, report)

    def _report(self) -> str:
        """How each column would be read, were it not for the faults."""
        faulty = {fault.column for fault in self.faults if fault.file == self.table.file}
        roles = {n: "faulty" if n in faulty and r not in ("id", "label") else r for n, r in self.roles.items()}
        columns, dropped, _ = fit_columns(self.table, roles)
        return column_table(column_rows(roles, self.class_names, columns, dropped))

    def _open(self, given: Any, name: str, fitted: Sequence[str] = (), raw: bool = False) -> Table | None:
        """The table, its columns named as in fitting; None if it can't be inspected."""
        try:
            table = open_table(given, name, self.options.is_feature if raw else None).with_case_of(fitted)
        except TableError as error:
            self.faults += error.faults
            return None
        self.faults += table.faults
        self.notes += table.notes
        return table if table.texts or table.raw or not table.faults else None

    def _inspect(self, edges: Mapping[str, Table]) -> None:
        if self.schema is None:
            self.faults += option_faults(self.options, self.table, edges)
        else:
            self.notes += self.schema.differences(self.table)
        self._find_ids(edges)
        self.roles = {name: "id" if name == self.id else self.options.role(name) for name in self.table.columns}
        read = LabelReader(self.table, self.options, None if self.schema is None else self.schema.class_names)
        self.labels, self.class_names, self.label_times = read.labels, read.class_names, read.times
        self.faults += read.faults
        self.notes += read.notes
        if self.schema is None:
            self._read_splits()
        self.faults += cell_faults(self.table, self.roles)
        ids = {*self.ids, *self.known}
        self._find_links(ids, edges)
        for name, table in edges.items():
            if any(table is other for other in (*(link.table for link in self.links), *(t for _, t in self.entities))):
                continue
            relation = self._found(name, table, ids) if self.schema is None else self._fitted(name, table, self.schema)
            if relation is not None:
                edge = EdgeTable(table, relation, are_whole(self.ids), self.period)
                refuse = self.options.unknown_endpoints == "refuse" and bool(self.ids)
                self.faults += edge.faults(ids if refuse else None)
                self.edges.append(edge)

    def _open_link(self, link: Link) -> tuple[str, Table] | None:
        ((name, given),) = _edge_tables([link.table]).items()
        table = self._open(given, link.name or name)
        return None if table is None else (name, table)

    def _find_links(self, ids: Set[str], edges: Mapping[str, Table]) -> None:
        """The links that options name, or those of fitting: their columns, faults and notes."""
        fitted = self.schema is not None
        for link in self._fitted_links(edges) if self.schema is not None else self._given_links(ids):
            self.links.append(link)
            refuse = self.options.unknown_endpoints == "refuse" and bool(self.ids)
            self.faults += [] if fitted else link.faults(ids if refuse else None)
            self.notes += link.notes()

    def _link_table(self, schema: LinkSchema, table: Table) -> LinkTable:
        return LinkTable(table, schema, schema.through is None and are_whole(self.ids), self.period)

    def _given_links(self, ids: Set[str]) -> Iterator[LinkTable]:
        known: dict[str, Set[str]] = {}
        for k, link in enumerate(self.options.links):
            opened = self._link_tables.get(k)
            if isinstance(link, str) and link in self.table.cells:
                found = self._link_table(LinkSchema(name=clean_name(link), target=link), self.table)
            elif opened is not None:
                schema = find_link(link, opened[0], opened[1], ids, known, self.options.time)
                if isinstance(schema, Fault):
                    self.faults.append(schema)
                    continue
                if isinstance(schema, EntitySchema):
                    self._add_entities(schema, opened[1])
                    continue
                found = self._link_table(schema, opened[1])
            else:
                continue
            known[found.schema.name] = set(found.targets.ids)
            yield found

    def _add_entities(self, schema: EntitySchema, table: Table) -> None:
        """The columns of a table of entities, fitted, and its faults."""
        self.faults += bad_ids(table, schema.id, remedy=False)
        roles = {name: "id" if name == schema.id else "" for name in table.columns}
        columns, _, notes = fit_columns(table, roles)
        if not columns:
            message = f"no column other than {schema.id!r} tells entities apart"
            self.faults.append(table.fault(message, option="link"))
        self.notes += notes
        self.entities.append((schema.model_copy(update={"columns": tuple(columns)}), table))

    def _fitted_links(self, edges: Mapping[str, Table]) -> Iterator[LinkTable]:
        assert self.schema is not None
        self.entities += [(entity, edges.get(entity.table)) for entity in self.schema.entities]
        for link in self.schema.links:
            table = self.table if link.table is None else edges.get(link.table)
            if table is None:
                continue
            lacking = [column for column in (link.source, link.target) if column and column not in table.cells]
            if lacking and link.table is not None:
                self.faults += [table.fault(f"the column {column!r} of fitting is missing") for column in lacking]
            elif not lacking and (link.through is None or link.through in [one.schema.name for one in self.links]):
                yield self._link_table(link, table)

    def _find_ids(self, edges: Mapping[str, Table]) -> None:
        """Set the id column and the ids of the rows; without one, rows are numbered after those that are known."""
        table, fitted = self.table, None if self.schema is None else self.schema.id
        others = [*edges.values(), *(opened[1] for opened in self._link_tables.values() if opened is not None)]
        if fitted is not None:
            self.id = fitted if fitted in table.cells else None
        else:
            self.id = find_id(self.options, table.cells, [other.cells for other in others])
        if self.id is not None:
            cells = table.texts[self.id]
            if cells.ids != cells.texts:
                self.notes.append(f"{table.file}: the ids of column {self.id!r} were read as whole numbers")
            self.ids = ["" if code < 0 else cells.ids[code] for code in cells.codes.tolist()]
            if self.options.duplicates == "first":
                self._drop_duplicates()
            self.faults += bad_ids(self.table, self.id)
        elif fitted is not None:
            self.faults.append(table.fault(f"the id column {fitted!r} of fitting is missing"))
        elif others and self.options.id is None:
            message = f"which column holds the node ids is not clear (columns: {', '.join(table.cells)})"
            self.faults.append(table.fault(message, option="id"))
        else:
            self.ids = [str(len(self.known) + k) for k in range(table.data.num_rows)]

    def _drop_duplicates(self) -> None:
        """Keep the first row of each id."""
        first: dict[str, int] = {}
        for row, text in enumerate(self.ids):
            first.setdefault(text or f"row {row}", row)  # an empty id is a fault of its own
        repeated = len(self.ids) - len(first)
        if repeated:
            self.notes.append(f"{self.table.file}: {counted(repeated, 'further row')} of the same id dropped")
            rows = np.array(list(first.values()))
            self.table, self.ids = self.table.take(rows), [self.ids[row] for row in rows]

    def _read_splits(self) -> None:
        """The splits in columns of ``train``, ``val``, ``test`` or empty cells."""
        for column in [name for name, role in self.roles.items() if role == "split" and name in self.table.cells]:
            cells = self.table.cells[column]
            bad = np.array([text not in PARTS[:3] for text in cells.texts], dtype=bool)
            if bad.any():
                text = cells.chosen(bad)[0][0]
                message = f"{text!r} is not a part of a split: train, val, test or an empty cell is allowed"
                remedy = {"option": "category", "value": column}
                self.faults.append(self.table.fault(message, cells.first_row(bad), column, **remedy))
            elif cells.counts.any():
                index = {text: k for k, text in enumerate(cells.texts)}
                train, val, test = (np.flatnonzero(cells.codes == index.get(part, -2)) for part in PARTS[:3])
                self.splits.append(Split.of(train, val, test, cells.rows, name=column.partition(":")[2] or "split"))

    def _found(self, name: str, table: Table, ids: Set[str]) -> RelationSchema | None:
        """The columns of an edge table that options, names and contents give."""
        relation, faults = find_relation(name, table, self.options, ids)
        self.faults += faults
        unused = [] if relation is None else [name for name in table.columns if name not in relation.columns]
        self.notes += [f"{table.file}: {named_columns(unused)} not used"] if unused else []
        return relation

    def _fitted(self, name: str, table: Table, schema: TableSchema) -> RelationSchema | None:
        """The columns of fitting: of the relation of the table's name, or of the only one."""
        known = {relation.name: relation for relation in schema.relations}
        fitted = known.get(name) or (schema.relations[0] if len(known) == 1 else None)
        if fitted is None or any(edge.schema.name == fitted.name for edge in self.edges):
            message = f"there was no such relation in fitting (relations: {', '.join(known) or 'none'})"
            self.faults.append(table.fault(message))
            return None
        gone = [column for column in dict.fromkeys(fitted.columns) if column not in table.texts]
        needed = [column for column in gone if column in (fitted.source, fitted.target, fitted.weight)]
        self.faults += [table.fault(f"the column {column!r} of fitting is missing") for column in needed]
        if gone and not needed:
            self.notes.append(f"{table.file} has no column {some(gone)}: its cells count as missing")
        return None if needed else fitted


def _edge_tables(edges: Any) -> dict[str, Any]:
    """Name -> edge table: keys of a dict, else the names of files without suffix, else ``edges``."""
    if isinstance(edges, Mapping):
        return {str(name) or "edges": table for name, table in edges.items()}
    several = [] if edges is None else edges if isinstance(edges, list | tuple) else [edges]
    found: dict[str, Any] = {}
    for k, table in enumerate(several, start=1):
        stem = Path(table).name.partition(".")[0] if isinstance(table, str | os.PathLike) else ""
        name = stem or ("edges" if len(several) == 1 else f"edges {k}")
        found[f"{name} {k}" if name in found else name] = table
    return found
