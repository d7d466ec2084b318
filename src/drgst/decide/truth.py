"""True labels of the nodes of a run, read from a table after the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.errors import unknown
from drgst.tables.cells import Cells
from drgst.tables.faults import TableError, counted, some
from drgst.tables.kinds.boolean import booleans
from drgst.tables.source import Table, open_table

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
