"""CSV and Parquet files as Arrow tables: rows of equal width, unique column names, given column types."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from drgst.errors import DataFileError
from drgst.files import FORMULA, inert_cell, original_cell, reading
from drgst.memory import check_memory

FORMATS = ("csv", "parquet")
_BLOCK = 1 << 24  # bytes: a row must fit in a block
_BAD_CELL = re.compile(r"CSV column #(\d+): (?:Row #(\d+): )?.*invalid value '(.*)'", re.DOTALL)
_BAD_ROW = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")


def read_table(path: Path, needed: Sequence[str], is_number: Callable[[str], bool]) -> Any:
    """The :class:`pyarrow.Table` in ``path``, which must have the columns ``needed``.

    In CSV, a column holds numbers if ``is_number(name)`` and text otherwise. In error messages, row 1 is the first row
    below the header.
    """
    try:
        with reading(path):
            return _read_csv(path, needed, is_number) if path.suffix == ".csv" else _read_parquet(path, needed)
    except (pa.ArrowException, UnicodeError, csv.Error) as error:
        raise DataFileError(f"{path} can't be read: {' '.join(str(error).split())}") from error


def write_table(table: Any, path: Path, suffix: str) -> None:
    """Write an Arrow table as ``"csv"`` or ``"parquet"``."""
    if suffix == "csv":
        arrow_csv.write_csv(_with_cells(table, inert_cell), path)
    else:
        parquet.write_table(table, path)


def _read_csv(path: Path, needed: Sequence[str], is_number: Callable[[str], bool]) -> Any:
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
    return _with_cells(table, original_cell).rename_columns(names)


def _with_cells(table: Any, change: Callable[[str], str]) -> Any:
    """``table`` with ``change`` applied to the texts that a spreadsheet could take for formulas."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and pc.any(pc.match_substring_regex(table[place], FORMULA)).as_py():
            cells = [cell if cell is None else change(cell) for cell in table[place].to_pylist()]
            table = table.set_column(place, field, pa.array(cells, pa.string()))
    return table


def _read_parquet(path: Path, needed: Sequence[str]) -> Any:
    with open(path, "rb") as handle:
        file = parquet.ParquetFile(handle)
        check_memory(8 * file.metadata.num_rows * file.metadata.num_columns, f"{path}, unpacked,")
        table = file.read()
        table.validate(full=True)  # text that is not UTF-8 is refused here
    return table.rename_columns(_checked_names(path, table.column_names, needed))


def _checked_names(path: Path, header: Sequence[str], needed: Sequence[str]) -> list[str]:
    """The column names without surrounding blanks: unique, and none of ``needed`` missing."""
    names = [name.strip() for name in header]
    if not any(names):
        raise DataFileError(f"{path} is empty: a header with the column {needed[0]!r} is needed")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise DataFileError(f"{path}: the column {min(twice)!r} occurs more than once")
    for name in needed:
        if name not in names:
            other = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
            remark = "" if other is None else f"; its columns seem to be separated by {other!r}, but must be by ','"
            raise DataFileError(f"{path}: the column {name!r} is missing (found: {', '.join(names)}){remark}")
    return names


def _check_quotes(path: Path) -> None:
    """Raise if the file ends within a quoted cell, which Arrow accepts as the end of the cell."""
    with open(path, "rb") as handle:
        marks = sum(piece.count(b'"') for piece in iter(lambda: handle.read(_BLOCK), b""))
    if marks % 2:
        raise DataFileError(f"{path} is cut short or has a cell that is quoted on one side: its quotes do not pair up")


def _explained(path: Path, names: Sequence[str], error: Exception) -> DataFileError:
    """Arrow's error with the row below the header, the column name and the cell."""
    cell, row = _BAD_CELL.search(str(error)), _BAD_ROW.search(str(error))
    if cell:
        where = f"row {int(cell[2]) - 1}, " if cell[2] else ""
        return DataFileError(f"{path}: {where}column {names[int(cell[1])]!r} holds {cell[3]!r}, not a number")
    if row:
        where = f"row {int(row[1]) - 1}" if row[1] else "a row"
        return DataFileError(f"{path}: {where} has {row[3]} columns, but the header has {row[2]}")
    return DataFileError(f"{path} can't be read: {' '.join(str(error).split())}")
