"""True labels of the nodes of a run, and groups of them, read from tables after the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.errors import SettingError, unknown
from drgst.tables.cells import Cells
from drgst.tables.faults import TableError, counted, some
from drgst.tables.kinds.boolean import booleans
from drgst.tables.kinds.date import date_formats, dates
from drgst.tables.source import Table, open_table

PERIODS = ("day", "week", "month", "year")
NO_GROUP = "(none)"  # nodes without a cell in the column
MOST_GROUPS = 200
MONDAY = 3  # 1970-01-01 was a Thursday
MATCHED = 0.5  # share of the texts of a column that must be node ids for it to be the id column


@dataclass(frozen=True, eq=False)
class Truth:
    """The class of each node, (N,), -1 where it is unknown, and remarks on how it was read."""

    labels: np.ndarray
    notes: tuple[str, ...]


@dataclass(frozen=True)
class TruthColumns:
    """Which columns to read, and the class that "true" means. Columns that are None are found by content."""

    id: str | None = None
    label: str | None = None
    positive: str | None = None


def read_truth(given: Any, ids: Sequence[Any], class_names: tuple[str, ...], columns: TruthColumns) -> Truth:
    """The labels in a table (a path, a data frame or an Arrow table) for the nodes ``ids``.

    The id column is the one whose texts are node ids, the label column the one whose texts are classes. Of two classes,
    a column of true and false may stand for them: true is the class with the name of the column, else ``positive``.
    """
    table = open_table(given, "truth").checked()
    cells = table.cells
    place = {str(node): k for k, node in enumerate(ids)}
    own = id_column(table, place, columns.id)
    label_column = _label_column(table, {k: v for k, v in cells.items() if k != own}, class_names, columns)
    classes, notes = _classes(table, cells[label_column], label_column, class_names, columns.positive)
    nodes = cells[own].spread(np.array([place.get(text, -1) for text in cells[own].texts]), -1)
    repeated = np.flatnonzero(cells[own].counts > 1)
    if repeated.size:
        text = cells[own].texts[repeated[0]]
        row = int(np.flatnonzero(cells[own].codes == repeated[0])[1])
        raise TableError([table.fault(f"the id {text!r} occurs more than once", row, own)])
    strange = int((nodes < 0).sum())
    if strange:
        notes.append(f"{table.file}: {counted(strange, 'row')} with ids that are not nodes of the run ignored")
    labels = np.full(len(ids), -1, dtype=np.int64)
    labels[nodes[nodes >= 0]] = classes[nodes >= 0]
    return Truth(labels, tuple(notes))


def id_column(table: Table, place: Mapping[str, int], given: str | None = None) -> str:
    """The column whose texts are the ids of nodes."""
    cells = table.cells
    if given is not None:
        return _existing(table, cells, given, "id")
    shares = {name: c.share(np.array([text in place for text in c.texts], dtype=bool)) for name, c in cells.items()}
    best = max(shares, key=lambda name: shares[name], default=None)
    if best is None or shares[best] < MATCHED:
        message = f"no column holds the ids of the nodes of the run (columns: {', '.join(table.columns)})"
        raise TableError([table.fault(message, option="id")])
    return best


def _label_column(table: Table, cells: Mapping[str, Cells], class_names: tuple[str, ...], columns: TruthColumns) -> str:
    if columns.label is not None:
        return _existing(table, cells, columns.label, "label")
    fit = [name for name, c in cells.items() if c.texts and set(c.texts) <= set(class_names)]
    yes_no = [name for name, c in cells.items() if c.texts and np.isfinite(booleans(c)).all()]
    same = [name for name in yes_no if _class_called(name, class_names)]
    found = fit or same or (yes_no if columns.positive is not None else [])
    if len(found) != 1:
        which = "no column holds" if not found else f"the columns {some(found)} hold"
        message = f"{which} classes of the run ({some(class_names, 5)}): name the one to read, --column NAME=label"
        raise TableError([table.fault(message)])
    return found[0]


def _class_called(name: str, class_names: Sequence[str]) -> str | None:
    """The class with that name, in upper or lower case; None if there is none, or more than one."""
    found = [one for one in class_names if one.casefold() == name.casefold()]
    return found[0] if len(found) == 1 else None


def _classes(
    table: Table, cells: Cells, column: str, class_names: tuple[str, ...], positive: str | None
) -> tuple[np.ndarray, list[str]]:
    """The class index of each row, -1 for empty cells, and notes."""
    index = {name: k for k, name in enumerate(class_names)}
    codes = np.array([index.get(text, -2) for text in cells.texts], dtype=np.int64)
    flags, true = booleans(cells), _class_called(column, class_names) or positive
    if (codes < 0).any() and np.isfinite(flags).all() and true is not None and len(class_names) == 2:
        chosen = index[true]
        codes = np.where(flags > 0, chosen, 1 - chosen)
        words = f"true counts as {true!r}, false as {class_names[1 - chosen]!r}"
        return cells.spread(codes, -1), [f"{table.file}: column {column!r}: {words}"]
    bad = codes == -2
    if bad.any():
        text = next(t for t, wrong in zip(cells.texts, bad, strict=True) if wrong)
        message = f"{text!r} is not a class of the run (classes: {some(class_names, 5)})"
        raise TableError([table.fault(message, cells.first_row(bad), column)])
    return cells.spread(codes, -1), []


def _existing(table: Table, cells: Mapping[str, Cells], name: str, option: str) -> str:
    if name not in cells:
        raise TableError([table.fault(unknown("column", name, cells), option=option)])
    return name


def read_groups(by: str, tables: Sequence[Any], ids: Sequence[Any]) -> tuple[str, np.ndarray]:
    """What groups the nodes, in words, and the group of each, (N,) texts: ``by`` is a column, a period or both.

    The column of ``COLUMN=PERIOD`` is looked up in the tables in their order; a period that is not a column takes their
    one column of dates. A column of dates is grouped by month.
    """
    opened = [open_table(table, "nodes").checked() for table in tables]
    alone = by in PERIODS and not any(by in table.cells for table in opened)
    name, _, period = by.rpartition("=") if "=" in by else (None, "", by) if alone else (by, "", "")
    if period and period not in PERIODS:
        raise SettingError(unknown("period", period, PERIODS))
    place = {str(node): k for k, node in enumerate(ids)}
    dated = {
        column: table for table in opened[::-1] for column, cells in table.cells.items() if date_formats(cells, 0.95)
    }
    if name is None:
        if len(dated) != 1:
            found = ", ".join(dated) or "none"
            raise SettingError(f"--by {by} needs one column of dates (there are: {found}); write --by COLUMN={by}")
        name = next(iter(dated))
    table = next((table for table in opened if name in table.cells), None)
    if table is None:
        columns = [column for table in opened for column in table.cells]
        raise SettingError(f"{unknown('column', name, columns)}; --by reads the truth and the node table of the run")
    if period and name not in dated:
        raise SettingError(f"--by {by}: column {name!r} of {table.file} does not hold dates")
    period = period or ("month" if name in dated else "")
    return f"{name}, {period}" if period else name, _spread(table, name, period, place)


def _spread(table: Table, name: str, period: str, place: dict[str, int]) -> np.ndarray:
    cells = table.cells[name]
    texts = np.array(_periods(cells, period) if period else cells.texts, dtype=object)
    if np.unique(texts.astype(str)).size > MOST_GROUPS:
        raise SettingError(f"column {name!r} of {table.file} has more than {MOST_GROUPS} values: choose a coarser one")
    rows = cells.spread(np.arange(texts.size), -1)
    own = table.cells[id_column(table, place)]
    nodes = own.spread(np.array([place.get(text, -1) for text in own.texts]), -1)
    groups = np.full(len(place), NO_GROUP, dtype=object)
    known = (nodes >= 0) & (rows >= 0)
    groups[nodes[known]] = texts[rows[known]]
    return groups


def _periods(cells: Cells, period: str) -> list[str]:
    """``2026-06`` for each distinct date; a week is named by its Monday."""
    days = dates(cells, date_formats(cells, 0.95)[0])
    whole = np.floor(np.nan_to_num(days)).astype(np.int64)
    whole = whole - (whole + MONDAY) % 7 if period == "week" else whole
    unit = {"month": "M", "year": "Y"}.get(period, "D")
    names = whole.astype("datetime64[D]").astype(f"datetime64[{unit}]").astype(str)
    return np.where(np.isnan(days), NO_GROUP, names).tolist()
