"""Opening of a node table and its edge tables, and the search for all their faults at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from drgst.errors import GraphError
from drgst.tables.cells import (
    MISSING,
    Cells,
    date_formats,
    dates,
    empty_cells,
    number_style,
    numbers,
    read_cells,
)
from drgst.tables.faults import Problem, counted, some
from drgst.tables.infer import Kind
from drgst.tables.naming import LONGEST_ID, as_integer, encode_labels
from drgst.tables.options import TableOptions
from drgst.tables.relations import EdgeReader
from drgst.tables.roles import OpenTable, check_names, find_id, find_relation, id_texts
from drgst.tables.schema import TableSchema, missing_columns
from drgst.tables.source import Table, open_table

MOST_CLASSES = 0.5  # classes per labelled node above which labels are rather numbers or ids
FEW_LABELS = 20  # labelled nodes up to which that is not checked
_NO_LABEL = {"unknown", "unlabelled", "unlabeled", "missing", "tbd", "n.a."}  # class names that may mean no label


@dataclass(eq=False)
class Inspection:
    """The tables with what was found out about them; ``problems`` lists every fault."""

    options: TableOptions
    nodes: OpenTable | None = None
    id: str | None = None
    ids: list[str] = field(default_factory=list)  # of the rows of the node table
    edges: list[EdgeReader] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows of the node table."""
        return len(self.ids)

    def labels(self) -> tuple[np.ndarray, tuple[str, ...]]:
        """Class indices with -1 for unknown, (rows,), and the class names."""
        column = self.options.label
        if self.nodes is None or column is None or column not in self.nodes.cells:
            return np.full(self.rows, -1, dtype=np.int64), ()
        cells = self.nodes.cells[column]
        per_value, names = encode_labels(cells.texts)
        return cells.spread(per_value, -1).astype(np.int64), names


def inspect_tables(
    nodes: Any, edges: Any, options: TableOptions, schema: TableSchema | None = None, known: set[str] | None = None
) -> Inspection:
    """Open the tables, find the role of each column and all faults.

    With ``schema`` the roles are those of fitting and labels are optional. ``known`` are further ids that edges may
    lead to.
    """
    found = Inspection(options)
    found.nodes = _open(nodes, "nodes", found)
    tables = {name: _open(given, name, found) for name, given in _edge_tables(edges).items()}
    opened = {name: table for name, table in tables.items() if table is not None}
    if found.nodes is None:
        return found
    table = found.nodes.table
    if table.data.num_rows == 0:
        found.problems.append(table.problem("has no rows below its header"))
        return found
    if schema is None:
        found.problems += check_names(options, found.nodes, [edge.table for edge in opened.values()])
    else:
        found.notes += missing_columns(schema, table.columns, table.file)
    _find_ids(found, opened, schema, len(known or ()))
    ids = {*found.ids, *(known or ())}
    for name, edge in opened.items():
        reader = _reader(name, edge, found, ids) if schema is None else _fitted_reader(name, edge, found, schema)
        if reader is not None:
            found.edges.append(reader)
            refuse = options.unknown_endpoints == "refuse" and bool(found.ids)
            found.problems += reader.problems(ids if refuse else None)
    _check_labels(found, schema)
    _check_types(found)
    return found


def _edge_tables(edges: Any) -> dict[str, Any]:
    """Name -> edge table: keys of a dict, else the names of files without suffix, else ``edges``."""
    if edges is None:
        return {}
    if isinstance(edges, Mapping):
        return {str(name) or "edges": table for name, table in edges.items()}
    several = edges if isinstance(edges, list | tuple) else [edges]
    found: dict[str, Any] = {}
    for k, table in enumerate(several, start=1):
        is_path = isinstance(table, str | os.PathLike)
        stem = Path(table).name.partition(".")[0] if is_path else ""
        name = stem or ("edges" if len(several) == 1 else f"edges {k}")
        found[f"{name} {k}" if name in found else name] = table
    return found


def _open(given: Any, name: str, found: Inspection) -> OpenTable | None:
    table = open_table(given, name, found.problems)
    if table is None:
        return None
    found.notes += table.notes
    cells = {column: read_cells(table.data.column(column)) for column in table.columns}
    return OpenTable(table, {column: read for column, read in cells.items() if read is not None})


def _find_ids(found: Inspection, edges: Mapping[str, OpenTable], schema: TableSchema | None, first: int) -> None:
    """Set the id column and the ids of the rows; without one, rows are numbered from ``first``."""
    assert found.nodes is not None
    table, cells = found.nodes
    column = find_id(found.options, cells, [edge.cells for edge in edges.values()])
    if schema is not None and schema.id is not None:
        column = schema.id if schema.id in cells else None
        if column is None:
            found.problems.append(table.problem(f"the id column {schema.id!r} of fitting is missing"))
            return
    if column is None:
        if edges and found.options.id is None:
            message = f"which column holds the node ids is not clear (columns: {', '.join(cells)})"
            found.problems.append(table.problem(message, option="id"))
        else:
            found.ids = [str(first + k) for k in range(table.data.num_rows)]
        return
    found.id = column
    plain = read_cells(table.data.column(column), missing=False)
    assert plain is not None
    texts = plain.texts if found.options.strict else id_texts(plain)
    if texts != plain.texts:
        found.notes.append(f"{table.file}: the ids of column {column!r} were read as whole numbers")
    found.problems += _bad_ids(table, column, plain, texts)
    found.ids = ["" if code < 0 else texts[code] for code in plain.codes.tolist()]


def _bad_ids(table: Table, column: str, cells: Cells, texts: list[str]) -> list[Problem]:
    problems = []
    if cells.missing.any():
        message = f"the id is empty ({counted(int(cells.missing.sum()), 'row')} in all)"
        problems.append(table.problem(message, int(np.flatnonzero(cells.missing)[0]), column))
    repeated = cells.counts > 1
    if repeated.any():
        codes = cells.codes
        first = int(np.flatnonzero(repeated)[0])
        rows = np.flatnonzero(codes == first)
        names = [text for text, twice in zip(texts, repeated, strict=True) if twice]
        message = f"the id {texts[first]!r} occurs again, first in {table.unit} {table.place(int(rows[0]))}"
        message += f"; {counted(len(names), 'id')} in all ({some(names)})"
        problems.append(table.problem(message, int(rows[1]), column, option="id"))
    for k, text in enumerate(texts):
        if len(text) > LONGEST_ID:
            message = f"the id has {len(text)} characters; {LONGEST_ID} are allowed"
            problems.append(table.problem(message, cells.first_row(np.arange(len(texts)) == k), column))
            break
    whole = [as_integer(text) for text in texts]
    if None not in whole and texts and min(n for n in whole if n is not None) < 0:
        bad = np.array([n is not None and n < 0 for n in whole])
        message = f"the id {texts[int(np.flatnonzero(bad)[0])]!r} is negative: ids are numbers of 0 or above, or names"
        problems.append(table.problem(message, cells.first_row(bad), column))
    return problems


def _reader(name: str, edge: OpenTable, found: Inspection, ids: set[str]) -> EdgeReader | None:
    """The edge table with the columns that options, names and contents give."""
    relation, problems = find_relation(name, edge, found.options, ids)
    found.problems += problems
    if relation is None:
        return None
    used = {relation.source, relation.target, relation.weight, relation.time, *relation.amounts}
    others = [column for column in edge.table.columns if column not in used]
    if others:
        found.notes.append(f"{edge.table.file}: column{'s' if len(others) > 1 else ''} {some(others)} not used")
    return EdgeReader(edge, relation, found.options.strict)


def _fitted_reader(name: str, edge: OpenTable, found: Inspection, schema: TableSchema) -> EdgeReader | None:
    """The edge table with the columns of fitting: of the relation of its name, or of the only one."""
    table = edge.table
    known = {relation.name: relation for relation in schema.relations}
    fitted = known.get(name) or (schema.relations[0] if len(known) == 1 else None)
    if fitted is None or any(reader.schema.name == fitted.name for reader in found.edges):
        message = f"there was no such relation in fitting (relations: {', '.join(known) or 'none'})"
        found.problems.append(table.problem(message))
        return None
    needed = [column for column in (fitted.source, fitted.target, fitted.weight) if column is not None]
    lacking = [column for column in needed if column not in edge.cells]
    for column in lacking:
        found.problems.append(table.problem(f"the column {column!r} of fitting is missing"))
    if lacking:
        return None
    gone = [column for column in (*fitted.amounts, fitted.time) if column is not None and column not in edge.cells]
    if gone:
        found.notes.append(f"{table.file} has no column {some(gone)}: its cells count as missing")
    cells = {**edge.cells, **dict.fromkeys(gone, empty_cells(table.data.num_rows))}
    return EdgeReader(OpenTable(table, cells), fitted)


def _check_labels(found: Inspection, schema: TableSchema | None) -> None:
    assert found.nodes is not None
    table, column = found.nodes.table, found.options.label
    if column is None or column not in found.nodes.cells:
        return
    try:
        labels, names = found.labels()
    except GraphError as error:
        found.problems.append(table.problem(str(error), column=column, option="label"))
        return
    known = int((labels >= 0).sum())
    longest = max((len(name) for name in names), default=0)
    if longest > LONGEST_ID:
        message = f"a label has {longest} characters; {LONGEST_ID} are allowed"
        found.problems.append(table.problem(message, column=column, option="label"))
    found.notes += _missing_words(table, column)
    if schema is not None:
        others = [name for name in names if name not in schema.class_names]
        if others:
            found.notes.append(
                f"{table.file}: the labels {some(others)} are no classes of fitting and count as unknown"
            )
    elif len(names) < 2:
        message = f"{'only one class has' if names else 'no node has'} a label: at least two classes need one"
        found.problems.append(table.problem(message, column=column, option="label"))
    elif known > FEW_LABELS and len(names) > MOST_CLASSES * known:
        message = f"{len(names):,} classes for {known:,} labelled nodes: a column of classes is needed, not of numbers"
        found.problems.append(table.problem(message, column=column, option="label"))
    found.notes += _label_notes(names, table.file, column)


def _missing_words(table: Table, column: str) -> list[str]:
    """A note on each word in the label column that counts as no label, since it may be a class."""
    cells = read_cells(table.data.column(column), missing=False)
    pairs = [] if cells is None else zip(cells.texts, cells.counts.tolist(), strict=True)
    words = [(text, count) for text, count in pairs if text.lower() in MISSING]
    return [f"{table.file}: column {column!r}: {counted(n, 'cell')} {text!r} without label" for text, n in words]


def _label_notes(names: tuple[str, ...], file: str, column: str) -> list[str]:
    notes = []
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            notes.append(f"{file}: column {column!r} has the classes {other!r} and {name!r}, which differ in case only")
        if name.casefold() in _NO_LABEL:
            notes.append(f"{file}: column {column!r} has the class {name!r}; leave cells empty that have no label")
    return notes


def _check_types(found: Inspection) -> None:
    """Cells that are not of the type that an option gives to their column."""
    assert found.nodes is not None
    table, all_cells = found.nodes
    for column, (_, kind) in found.options.kinds().items():
        if kind in ("number", "date") and column in all_cells:
            cells = all_cells[column]
            bad = np.isnan(_as_numbers(cells) if kind == "number" else _as_dates(cells))
            if bad.any():
                message = bad_cells(cells, bad, kind)
                row = cells.first_row(bad)
                found.problems.append(table.problem(message, row, column, option="category", value=column))


def bad_cells(cells: Cells, bad: np.ndarray, kind: Kind) -> str:
    """A sentence on the cells that are not of the type of their column, given a mask of the texts, (V,)."""
    texts = [text for text, wrong in zip(cells.texts, bad, strict=True) if wrong]
    rows = counted(int(cells.counts[bad].sum()), "cell")
    return f"{texts[0]!r} is not a {kind} ({rows} in all: {some(texts)})"


def _as_numbers(cells: Cells) -> np.ndarray:
    return numbers(cells.values, number_style(cells.values))


def _as_dates(cells: Cells) -> np.ndarray:
    formats = date_formats(cells.values, 0.5)
    return dates(cells.values, formats[0]) if formats else np.full(len(cells.values), np.nan)
