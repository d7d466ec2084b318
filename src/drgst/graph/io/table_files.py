"""CSV and Parquet files as Arrow tables, strictly: rows of one width, named columns, the types asked for."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from drgst.errors import DataFileError

FORMATS = ("csv", "parquet")
_BLOCK = 1 << 24  # bytes: a row must fit in a block
_BAD_CELL = re.compile(r"CSV column #(\d+): (?:Row #(\d+): )?.*invalid value '(.*)'", re.DOTALL)
_BAD_ROW = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")


def read_table(path: Path, needed: Sequence[str], is_number: Callable[[str], bool]) -> Any:
    """The :class:`pyarrow.Table` in ``path``, which must have the columns ``needed``.

    In CSV, a column holds numbers where ``is_number(name)`` and text elsewhere. Rows are counted from 1 below the
    header in every message.
    """
    import pyarrow as pa

    try:
        if path.suffix == ".csv":
            return _read_csv(path, needed, is_number)
        return _read_parquet(path, needed)
    except OSError as error:
        raise DataFileError(f"can't read {path}: {error.strerror or error}") from error
    except (pa.ArrowException, UnicodeError, csv.Error) as error:
        raise DataFileError(f"{path} can't be read: {' '.join(str(error).split())}") from error


def _read_csv(path: Path, needed: Sequence[str], is_number: Callable[[str], bool]) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    _check_quotes(path)
    with open(path, encoding="utf-8-sig", newline="") as handle:
        header = next(csv.reader(handle), [])
    names = _checked_names(path, header, needed)
    types = {raw: pa.float64() if is_number(name) else pa.string() for raw, name in zip(header, names, strict=True)}
    try:
        table = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(use_threads=False, block_size=_BLOCK),  # threads hide the row number
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(column_types=types),
        )
    except pa.ArrowInvalid as error:
        raise _explained(path, names, error) from error
    return table.rename_columns(names)


def _read_parquet(path: Path, needed: Sequence[str]) -> Any:
    from pyarrow import parquet

    with open(path, "rb") as handle:
        table = parquet.ParquetFile(handle).read()
    return table.rename_columns(_checked_names(path, table.column_names, needed))


def _checked_names(path: Path, header: Sequence[str], needed: Sequence[str]) -> list[str]:
    """The column names without blanks around them: all different, none of ``needed`` missing."""
    names = [name.strip() for name in header]
    if not any(names):
        raise DataFileError(f"{path} is empty: a header with the column {needed[0]!r} is needed")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise DataFileError(f"{path}: the column {min(twice)!r} occurs more than once")
    for name in needed:
        if name not in names:
            raise DataFileError(f"{path}: the column {name!r} is missing (found: {', '.join(names)})")
    return names


def _check_quotes(path: Path) -> None:
    """Refuse a file that ends within a quoted cell, which Arrow would take as the end of that cell."""
    with open(path, "rb") as handle:
        marks = sum(piece.count(b'"') for piece in iter(lambda: handle.read(_BLOCK), b""))
    if marks % 2:
        raise DataFileError(f"{path} is cut short or has a cell that is quoted on one side: its quotes do not pair up")


def _explained(path: Path, names: Sequence[str], error: Exception) -> DataFileError:
    """Arrow's complaint in the words of a user: the row below the header, the column's name, the cell."""
    cell, row = _BAD_CELL.search(str(error)), _BAD_ROW.search(str(error))
    if cell:
        where = f"row {int(cell[2]) - 1}, " if cell[2] else ""
        return DataFileError(f"{path}: {where}column {names[int(cell[1])]!r} holds {cell[3]!r}, not a number")
    if row:
        where = f"row {int(row[1]) - 1}" if row[1] else "a row"
        return DataFileError(f"{path}: {where} has {row[3]} columns, but the header has {row[2]}")
    return DataFileError(f"{path} can't be read: {' '.join(str(error).split())}")
