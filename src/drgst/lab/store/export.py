"""Runs as CSV, and back, and what can be read of a damaged store."""

from __future__ import annotations

import csv
import sqlite3
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from drgst.errors import DrgstWarning, StoreError
from drgst.files import csv_text, original_cell, write_text
from drgst.lab.store.schema import COLUMNS, FOREIGN, KINDS, Row, invalid

_PARSERS: dict[str, Callable[[str], Any]] = {"INTEGER": int, "REAL": float}
_NUMBERS = {name: _PARSERS[kind] for name, kind in KINDS.items() if kind in _PARSERS}


def to_csv(rows: Iterable[Row], path: Path) -> None:
    """One line per run; an empty field is a figure that does not exist."""
    write_text(path, csv_text([COLUMNS, *([row[name] for name in COLUMNS] for row in rows)]))


def readable_rows(path: Path) -> list[Row]:
    """The rows of an export (.csv) or all that can still be read of a damaged store.

    A value that is not allowed is refused in an export; in a damaged store its run is left out with a warning.
    """
    if not path.is_file():
        raise StoreError(f"there is no file {path}")
    if path.suffix != ".csv":
        return _from_damaged(path)
    rows = _from_csv(path)
    checked = [name for name in COLUMNS if name != "stage_rows"]  # which is slow to parse, and no table reads it
    for number, row in enumerate(rows, 1):
        if problem := invalid(row, checked):
            raise StoreError(f"{path}, run {number}: {problem}")
    return rows


def _from_csv(path: Path) -> list[Row]:
    csv.field_size_limit(2**27)
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            head, *lines = [line for line in csv.reader(handle) if line] or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StoreError(f"can't read {path}: {' '.join(str(error).split())}") from error
    missing = [name for name in COLUMNS if name not in head]
    if missing:
        raise StoreError(f"{path} is not an export of a store: it has no column {missing[0]}")
    for number, line in enumerate(lines, 1):
        if len(line) != len(head):
            raise StoreError(f"can't read {path}: run {number} has {len(line)} fields, the others {len(head)}")
    return [_row(head, line) for line in lines]


def _row(head: list[str], line: list[str]) -> Row:
    """Fields as they were in the store; written for speed, since a table is made from many thousand lines."""
    fields = {name: original_cell(field) for name, field in zip(head, line, strict=True)}
    row: Row = {name: fields[name] or None for name in COLUMNS}
    for name, parse in _NUMBERS.items():
        if row[name] is not None:
            try:
                row[name] = parse(row[name])
            except ValueError:
                continue  # stays a text, which is refused with its name
    row["variant"] = fields["variant"]  # here empty is a text, not a figure that does not exist
    return row


def _from_damaged(path: Path) -> list[Row]:
    """Read from both ends by row number as far as possible; what lies between is lost."""
    rows: dict[int, Row] = {}
    problem = ""
    for order in ("ASC", "DESC"):
        try:
            db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            if foreign := db.execute(FOREIGN).fetchone():
                raise StoreError(f"{path} has a {foreign[0]}, which drgst did not write")
            for number, *values in db.execute(
                f"SELECT rowid, {', '.join(COLUMNS)} FROM runs NOT INDEXED ORDER BY rowid {order}"
            ):
                rows[number] = dict(zip(COLUMNS, values, strict=True))
        except sqlite3.Error as error:
            problem = str(error)
    valid = [rows[number] for number in sorted(rows) if not invalid(rows[number])]
    if len(valid) < len(rows):
        warnings.warn(
            f"{len(rows) - len(valid):,} runs of {path} have damaged values and are left out", DrgstWarning, 2
        )
    if not valid:
        raise StoreError(f"nothing can be read of {path} ({problem or 'it holds no runs'})")
    return valid
