"""Runs as tables, and back: CSV and Parquet of a store, and what can be read of a damaged one."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from drgst.bench.schema import COLUMNS
from drgst.errors import StoreError
from drgst.files import replacing

Row = dict[str, Any]
_KINDS: dict[str, Callable[[str], Any]] = {"INTEGER": int, "REAL": float}
_NUMBERS = {name: _KINDS[kind.split()[0]] for name, kind in COLUMNS.items() if kind.split()[0] in _KINDS}


def to_csv(rows: Iterable[Row], path: Path) -> None:
    """A line a run; an empty field is a figure that does not exist."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(COLUMNS), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def to_parquet(rows: Iterable[Row], path: Path) -> None:
    """A row a run, with types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"TEXT": pa.string(), "INTEGER": pa.int64(), "REAL": pa.float64()}
    schema = pa.schema([(name, kinds[kind.split()[0]]) for name, kind in COLUMNS.items()])
    table = pa.Table.from_pylist(list(rows), schema=schema)
    with replacing(path) as temporary:
        pq.write_table(table, temporary)


def readable_rows(path: Path) -> list[Row]:
    """The rows of an export (.csv, .parquet) or all that can still be read of a damaged store."""
    if not path.is_file():
        raise StoreError(f"there is no file {path}")
    if path.suffix == ".csv":
        return _from_csv(path)
    if path.suffix == ".parquet":
        return _from_parquet(path)
    return _from_damaged(path)


def _from_csv(path: Path) -> list[Row]:
    csv.field_size_limit(2**27)
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            reader = csv.reader(handle)
            head = next(reader, [])
            missing = [name for name in COLUMNS if name not in head]
            if missing:
                raise StoreError(f"{path} is not an export of a store: it has no column {missing[0]}")
            return [_row(head, line) for line in reader if line]
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        raise StoreError(f"can't read {path}: {' '.join(str(error).split())}") from error


def _row(head: list[str], line: list[str]) -> Row:
    """Fields as they were in the store; written for speed, since a table is made from many thousand lines."""
    found = dict(zip(head, line, strict=True))
    row: Row = {name: found[name] or None for name in COLUMNS}
    for name, read in _NUMBERS.items():
        if row[name] is not None:
            row[name] = read(row[name])
    row["variant"] = found["variant"]  # empty is a text here, not a figure that does not exist
    return row


def _from_parquet(path: Path) -> list[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path, columns=list(COLUMNS)).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"can't read {path}: {' '.join(str(error).split())}") from error


def _from_damaged(path: Path) -> list[Row]:
    """Read from both ends by row number, as far as each goes: what lies between is lost."""
    rows: dict[int, Row] = {}
    problem = ""
    for order in ("ASC", "DESC"):
        try:
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            for number, *values in db.execute(
                f"SELECT rowid, {', '.join(COLUMNS)} FROM runs NOT INDEXED ORDER BY rowid {order}"
            ):
                rows[number] = dict(zip(COLUMNS, values, strict=True))
        except sqlite3.Error as error:
            problem = str(error)
    if not rows:
        raise StoreError(f"nothing can be read of {path} ({problem or 'it holds no runs'})")
    return [rows[number] for number in sorted(rows)]
