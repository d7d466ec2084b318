"""Links: rows that share a value of a column, or an entity of another table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from drgst.graph.relation import Relation
from drgst.tables.cells import Cells, empty_cells
from drgst.tables.columns import DISTINCT, MATCHED, no_column
from drgst.tables.faults import Fault
from drgst.tables.kinds import AnyColumn, detect
from drgst.tables.kinds.base import Name, Strict
from drgst.tables.options import EVERY, Link
from drgst.tables.relations import RowTable
from drgst.tables.source import Table

MOSTLY_MISSING = 0.9  # of the cells of a link column, above which a note says so


class LinkSchema(Strict):
    """The columns that relate rows: one of the node table, or two of a table of links."""

    name: Name
    target: Name  # the column of entities
    table: Name | None = None  # the table of links; None for a column of the node table
    source: Name | None = None  # its column of rows, or of entities of the link ``through``
    through: Name | None = None
    time: Name | None = None

    def describe(self) -> tuple[str, str, str]:
        """Column, role and use, for the report."""
        where = f"{self.table}: {self.source} - {self.target}" if self.table else self.target
        chain = f", through {self.through}" if self.through else ""
        return where, "link", f"relates rows that share a value{chain}"


class EntitySchema(Strict):
    """A table with one row per entity of a link: its column of ids, and the columns that give features."""

    table: Name
    link: Name
    id: Name
    columns: tuple[AnyColumn, ...] = ()

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, (K,)."""
        return [f"{self.link}: {name}" for column in self.columns for name in column.features()]

    def block(self, table: Table | None, relation: Relation | None, rows: int) -> sp.csr_array:
        """The mean features of the entities of each of the last ``rows`` nodes, D^-1 B X, (rows, K); 0 without any."""
        if table is None or relation is None:
            return sp.csr_array((rows, len(self.feature_names)), dtype=np.float32)
        count = table.data.num_rows
        encoded = [column.encode(table.cells.get(column.column, empty_cells(count)))[0] for column in self.columns]
        x = sp.csr_array(sp.hstack([sp.csr_array(part) for part in encoded]))
        index = {text: k for k, text in enumerate(relation.entities.tolist())}
        cells = table.texts[self.id]
        place = cells.spread(np.array([index.get(text, -1) for text in cells.ids], dtype=np.int64), -1)
        b = sp.csr_array(relation.incidence[-rows:] if rows else relation.incidence[:0])
        described = sp.csr_array(b[:, place[place >= 0]])
        mean = sp.diags_array(1 / np.maximum(described.sum(axis=1), np.finfo(np.float32).tiny)) @ described
        return sp.csr_array(mean @ x[place >= 0], dtype=np.float32)


class LinkTable(RowTable):
    """The rows of one link, of the node table or of a table of its own; its schema is a :class:`LinkSchema`."""

    @property
    def end_columns(self) -> tuple[str, ...]:
        return () if self.schema.source is None else (self.schema.source,)

    @cached_property
    def targets(self) -> Cells:
        """The cells of the column of entities."""
        return self.table.cells[self.schema.target]

    def faults(self, ids: Set[str] | None) -> Iterator[Fault]:
        """Values that relate no rows or all, and sources that are not ``ids``, unless that is None."""
        column, counts = self.schema.target, self.targets.counts
        if not counts.size:
            yield self.table.fault("all cells are missing, so the column links no rows", column=column, option="link")
        elif counts.size == 1 and self.schema.table is None:
            message = f"every row has the value {self.targets.ids[0]!r}, so the column tells no rows apart"
            yield self.table.fault(message, column=column, option="link")
        elif counts.max() == 1:
            message = "no two rows have the same value, so the column links no rows"
            yield self.table.fault(message, column=column, option="link")
        if self.schema.time is not None:
            yield from self.time_faults()
        yield from self.bad_ends(None if self.schema.through else ids, "link")

    def notes(self) -> Iterator[str]:
        """What may surprise: a column with few cells, and rows that are left out by their time."""
        missing = self.targets.missing.mean()
        if missing >= MOSTLY_MISSING:
            yield f"{self.table.file}: column {self.schema.target!r}: {missing:.0%} of its cells are missing"
        if self.schema.time is not None:
            yield from self.period.notes(self.table, self.schema.time, self.time)
        elif self.period.as_of is not None:
            yield f"{self.table.file}: the links by {self.schema.target!r} have no times, so as_of leaves out none"

    def relation(self, index: Mapping[str, int], rows: np.ndarray, found: Mapping[str, Relation]) -> Relation:
        """B_ue = 1 where a row links node u of ``index`` to entity e, (N, E); other nodes are left out.

        With a half-life, the weight of the latest such row. ``rows`` are the nodes of the rows of the node table, and
        ``found`` the relations of the links before.
        """
        schema, first = self.schema, found.get(self.schema.through or "")
        if first is not None:
            index = {text: k for k, text in enumerate(first.entities.tolist())}
        places = rows if schema.table is None else self.nodes(schema.source, index)
        weights = np.ones(places.size) if schema.time is None else self.period.weights(self.time)
        b = _entries(places, self.targets.codes, (len(index), len(self.targets.ids)), weights)
        return Relation.of(schema.name, b if first is None else first.incidence @ b, self.targets.ids)

    def moments(self, index: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
        """The node and the time of each row that counts; none for a table without times and for a chain."""
        if self.schema.time is None or self.schema.through is not None:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        places = self.nodes(self.schema.source, index)
        counts = (places >= 0) & (self.period.weights(self.time) > 0)
        return places[counts], self.time[counts]


def with_base(new: Mapping[str, Relation], base: Sequence[Relation], nodes: int) -> list[Relation]:
    """The relations of ``base`` with the entries of new ones of their names, of which the larger counts, and others.

    The entities of ``base`` come first.
    """
    joined = []
    for old in base:
        parts = [old, *([new[old.name]] if old.name in new else [])]
        index = {text: k for k, text in enumerate(dict.fromkeys(t for part in parts for t in part.entities.tolist()))}
        b = sp.csr_array((nodes, len(index)), dtype=np.float32)
        for part in parts:
            coo = part.incidence.tocoo()
            columns = np.array([index[text] for text in part.entities.tolist()], dtype=np.int64)
            b = b.maximum(sp.csr_array((coo.data, (coo.coords[0], columns[coo.coords[1]])), shape=b.shape))
        joined.append(Relation.of(old.name, b, list(index)))
    names = {old.name for old in base}
    return [*joined, *(relation for name, relation in new.items() if name not in names)]


def find_link(
    link: Link, name: str, table: Table, ids: Set[str], known: Mapping[str, Set[str]], time: str | None = None
) -> LinkSchema | EntitySchema | Fault:
    """The columns of a table of links, or of entities: by option, else by their contents.

    ``known`` are link -> its entities, ``time`` the column that options name for times. A table whose source are such
    entities, each in one row, and that has no column or several for what they share, describes the entities.
    """
    for column in (link.source, link.target):
        if column not in (None, EVERY) and column not in table.cells:
            return table.fault(no_column(column, table), option="link")
    columns = [column for column in table.cells if column != link.target]
    share = {column: table.texts[column].share_in(ids) for column in columns}
    source = link.source or max(columns, key=lambda column: share[column], default=None)
    through = None
    if source is not None and share.get(source, 0) < MATCHED:
        chains = [(table.texts[c].share_in(texts), c, n) for n, texts in known.items() for c in columns]
        best = max(((s, c, n) for s, c, n in chains if link.source in (None, c)), default=(0.0, "", ""))
        source, through = (best[1], best[2]) if best[0] >= MATCHED else (link.source, None)
    others = [column for column in table.cells if column != source]
    ends = (link.target, source)
    dated = [c for c in others if c not in ends and (c == time or detect(c, table.cells[c])[0] == "date")]
    undated = [column for column in others if column not in dated]
    described = link.target == EVERY or (link.target is None and len(undated) != 1)
    if described and source is not None and through is not None:
        counts = table.texts[source].counts
        if link.target == EVERY or counts.size >= DISTINCT * max(counts.sum(), 1):
            return EntitySchema(table=name, link=through, id=source)
    if link.target == EVERY:
        message = f"no column holds the entities of an earlier link (columns: {', '.join(table.cells)})"
        return table.fault(message, option="link", value=f"{table.file}:ENTITY-*")
    target = link.target or (undated[0] if len(undated) == 1 else None)
    if source is None or target is None or source == target:
        message = f"which columns hold the rows and what they share is not clear (columns: {', '.join(table.cells)})"
        return table.fault(message, option="link", value=f"{table.file}:SOURCE-TARGET")
    given = clean_name(link.name or target)
    unique = given if given not in known else clean_name(f"{name} {given}")
    when = time if time in dated else next(iter(dated), None)
    return LinkSchema(name=unique, target=target, table=name, source=source, through=through, time=when)


def clean_name(text: str) -> str:
    """A name that a relation may have."""
    return "".join("_" if letter in "./+" or not letter.isprintable() else letter for letter in text) or "_"


def _entries(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int], weights: np.ndarray) -> sp.csr_array:
    """The largest weight at each of the places of both, (N, E), where none is -1."""
    keep = (rows >= 0) & (columns >= 0) & (weights > 0)
    places, weights = rows[keep] * shape[1] + columns[keep], weights[keep]
    order = np.lexsort((weights, places))
    places, weights = places[order], weights[order]
    last = np.append(places[1:] != places[:-1], True)[: places.size]
    ends = np.divmod(places[last], max(shape[1], 1))
    return sp.csr_array((weights[last].astype(np.float32), ends), shape=shape)
