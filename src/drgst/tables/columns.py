"""The columns of a node table: the role of each, the faults of their cells, and the fitted columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lgamma, log

import numpy as np

from drgst.errors import unknown
from drgst.tables.faults import HOLDS_ANSWER, Fault, counted, some
from drgst.tables.kinds import KINDS, detect
from drgst.tables.kinds.base import Column, least_rows
from drgst.tables.kinds.features import is_features_name
from drgst.tables.kinds.number import NumberColumn
from drgst.tables.options import TableOptions
from drgst.tables.source import Table

MOST_CHANCE = 0.01  # probability with which a column without information tells the classes of the labels apart

_NOT_FITTED = {"drop": "dropped by option", "faulty": "see its fault"}

Roles = Mapping[str, str]  # column -> id, label, drop, faulty, link, split, a kind that is given, or empty


def column_roles(table: Table, options: TableOptions, id_column: str | None) -> dict[str, str]:
    """Column -> its role."""
    return {name: "id" if name == id_column else options.role(name) for name in table.columns}


def option_faults(options: TableOptions, nodes: Table, edges: Mapping[str, Table]) -> list[Fault]:
    """The faults of options: columns that do not exist or can't be read, and columns that two options name."""
    everywhere = {*nodes.columns, *(name for table in edges.values() for name in table.columns)}
    found = []
    first: dict[str, str] = {}
    twice = []
    for column, option in options.named():
        there = column in (everywhere if option == "drop" else nodes.texts)
        if not there and (option != "label" or options.classes is None):
            found.append(nodes.fault(no_column(column, nodes), option=option))
        other = first.setdefault(column, option)
        if other != option:
            message = f"both {other} and {option} name it; one of them is allowed"
            twice.append(nodes.fault(message, column=column, option=option))
    return [*found, *twice]


def no_column(name: str, table: Table) -> str:
    """Why a column that an option names can't be used."""
    if name in table.columns:
        return f"the column {name!r} holds {table.data.column(name).type}, which is not read"
    header = "; is the header line missing?" if any(column.isdigit() for column in table.columns) else ""
    return unknown("column", name, table.columns) + header


def cell_faults(table: Table, roles: Roles) -> Iterator[Fault]:
    """Cells that are not of the kind that an option or the name of a column gives."""
    lists = [name for name, role in roles.items() if role == "features"]
    for name in lists:
        if not is_features_name(name):
            yield table.fault("a column of features must be called features, or features: and their number", None, name)
        elif name not in table.cells:
            kind = table.data.column(name).type
            yield table.fault(f"the column holds {kind}, not lists of numbers", column=name)
    free = [name for name, role in roles.items() if not role or name in lists[1:]]
    if lists and free:
        message = f"beside {lists[0]!r} there can be no other column of features"
        yield table.fault(message, column=free[0], option="drop", value=free[0])
    for name, role in roles.items():
        if role in KINDS and name in table.cells and (role != "features" or is_features_name(name)):
            cells = table.cells[name]
            bad = KINDS[role].bad(cells, name)
            if bad.any():
                texts, rows = cells.chosen(bad)
                message = f"{texts[0][:100]!r} is not {KINDS[role].wanted} ({counted(rows, 'cell')} in all: "
                row = cells.first_row(bad)
                yield table.fault(f"{message}{some(texts)})", row, name, option="category", value=name)


def column_table(rows: Sequence[Sequence[str]]) -> str:
    """A text table: each column, its type and what becomes of it."""
    rows = [("column", "type", "becomes"), *rows]
    widths = [max(len(row[k]) for row in rows) for k in range(2)]
    return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows)


def column_rows(
    roles: Roles, class_names: Sequence[str], columns: Sequence[Column], dropped: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """The rows of :func:`column_table` for the columns of a node table."""
    classes = f"{counted(len(class_names), 'class')}: {some(class_names, 5)}"
    becomes = {"id": "node ids", "label": classes}
    rows = [(name, role, becomes[role]) for role in becomes for name in roles if roles[name] == role]
    rows += [(column.column, column.kind, column.describe()) for column in columns]
    return rows + [(name, "dropped", reason) for name, reason in dropped.items()]


def answers(table: Table, columns: Sequence[Column], labels: np.ndarray) -> list[str]:
    """A note on each column whose value gives the class of every labelled node, since it may be made of the classes.

    With n labels, n_c of class c, a column that says nothing does so with a probability of about C! Π_c n_c! / n!,
    which must be small, and its values must repeat.
    """
    known = labels >= 0
    y = labels[known]
    counts = np.unique(y, return_counts=True)[1]
    chance = sum(lgamma(n + 1) for n in (*counts, counts.size)) - lgamma(y.size + 1)
    notes = []
    for name in [column.column for column in columns] if counts.size > 1 and chance < log(MOST_CHANCE) else ():
        values = table.cells[name].codes[known] if name in table.cells else np.arange(y.size)
        several = np.unique(values).size
        if several <= y.size / 2 and np.unique(np.stack([values, y]), axis=1).shape[1] == several:
            notes.append(
                f"{table.file}: column {name!r} {HOLDS_ANSWER} {y.size:,} labelled nodes apart: "
                "drop it if it is made of the classes"
            )
    return notes


def fit_columns(table: Table, roles: Roles) -> tuple[list[Column], dict[str, str], list[str]]:
    """The columns that give features, name -> reason of the others, and notes."""
    splits = {name: "the split of the nodes" for name, role in roles.items() if role == "split"}
    if table.raw:
        return [NumberColumn(column=name) for name in table.raw], splits, []
    unread = [name for name in table.columns if name not in table.cells]
    dropped = {name: f"its type {table.data.column(name).type} is not read" for name in unread}
    fitted: list[Column] = []
    notes = []
    for name, cells in table.cells.items():
        role = roles[name]
        if role in ("id", "label", "split", "link"):
            continue
        if role in _NOT_FITTED:
            dropped[name] = _NOT_FITTED[role]
            continue
        found, detected = detect(name, cells)
        kind = role or found
        column = None if kind is None else KINDS[kind].fit(name, cells)
        if column is None or column.useless:
            rare = f"no value occurs in {least_rows(cells.rows)} rows"
            dropped[name] = detected.dropped if column is None else rare
            continue
        fitted.append(column)
        if detected.note and kind == found:
            notes.append(f"{table.file}: column {name!r}: {detected.note}")
    if dropped:
        notes.append(f"{table.file}: {counted(len(dropped), 'column')} dropped ({some(list(dropped))})")
    return fitted, dropped | splits, notes
