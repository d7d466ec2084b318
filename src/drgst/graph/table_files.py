"""CSV and Parquet files as Arrow tables, strictly: rows of one width, named columns, the types asked for."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from drgst.errors import DataFileError

FORMATS = ("csv", "parquet")
_BLOCK = 1 << 24  # bytes: a row must fit in a block
_BAD_CELL = re.compile(r"CSV column #(\d+): (?:Row #(\d+): )?.*invalid value '(.*)'", re.DOTALL)


def read_table(path: Path, is_number: Callable[[str], bool]) -> Any:
    """The :class:`pyarrow.Table` in ``path``; in CSV, a column is of numbers where ``is_number(name)``, else text."""
    import pyarrow as pa

    try:
        table = _read_csv(path, is_number) if path.suffix == ".csv" else _read_parquet(path)
    except OSError as error:
        raise DataFileError(f"can't read {path}: {error.strerror or error}") from error
    except (pa.ArrowException, UnicodeError, csv.Error) as error:
        raise DataFileError(f"{path} can't be read: {' '.join(str(error).split())}") from error
    names = [name.strip() for name in table.column_names]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise DataFileError(f"{path}: the column {min(twice)!r} occurs more than once")
    return table.rename_columns(names)


def _read_csv(path: Path, is_number: Callable[[str], bool]) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with open(path, encoding="utf-8-sig", newline="") as handle:
        header = next(csv.reader(handle), [])
    types = {name: pa.float64() if is_number(name.strip()) else pa.string() for name in header}
    try:
        return arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(use_threads=False, block_size=_BLOCK),  # threads hide the row number
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(column_types=types),
        )
    except pa.ArrowInvalid as error:
        found = _BAD_CELL.search(str(error))
        if not found:
            raise
        column, row, value = int(found[1]), found[2], found[3]
        where = f"row {row}, " if row else ""
        raise DataFileError(f"{path}: {where}column {header[column]!r} holds {value!r}, not a number") from error


def _read_parquet(path: Path) -> Any:
    from pyarrow import parquet

    with open(path, "rb") as handle:
        return parquet.ParquetFile(handle).read()
