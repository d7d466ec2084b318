"""Tables from files and from memory: CSV, gzip, Parquet, Arrow, data frames."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from drgst.errors import DrgstError, MemoryLimitError, nearest
from drgst.files import open_regular
from drgst.memory import check_memory
from drgst.tables.cells import CellError, Cells, read_cells
from drgst.tables.faults import LONGEST_NAME, Fault, TableError, some
from drgst.tables.kinds.features import as_float32, is_features_name, list_cells
from drgst.tables.text_file import CELL, TextFile

STANDARD_INPUT = "-"
ROWS = 100_000  # of a batch of a Parquet file
MOST_COLUMNS = 1 << 15  # of a table whose columns are encoded: about 2 ms each
_NUMBER = 12  # bytes of a number that is used as it is, in the file and in the graph
_DAMAGE = (OSError, EOFError, zlib.error, UnicodeError, csv.Error, pa.ArrowException, ValueError)
_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
IsRaw = Callable[[str], bool]  # whether a column of numbers is used as it is


@dataclass(frozen=True, eq=False)
class Table:
    """A table with unique column names, its cells, and where each of its rows is."""

    file: str  # as messages name it
    data: Any  # pyarrow.Table
    notes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    unit: str = "row"  # what ``place`` counts: lines of a text file, else rows
    place: Callable[[int], int] = lambda row: row + 1  # 0-based row -> 1-based line or row
    texts: Mapping[str, Cells] = field(default_factory=dict)  # column -> its cells; only empty ones are missing
    raw: Mapping[str, np.ndarray] = field(default_factory=dict)  # column -> numbers that are used as they are, (N,)

    @property
    def columns(self) -> list[str]:
        """The column names."""
        return list(self.data.column_names)

    @cached_property
    def cells(self) -> dict[str, Cells]:
        """Column -> its cells, where words for missing cells count as missing."""
        return {name: cells.known for name, cells in self.texts.items()}

    def fault(self, message: str, row: int | None = None, column: str | None = None, **remedy: str) -> Fault:
        """A fault of this table; ``row`` counts from 0."""
        where = None if row is None else self.place(row)
        return Fault(self.file, message, where, column, unit=self.unit, **remedy)

    def take(self, rows: np.ndarray) -> Table:
        """Some of the rows."""
        texts = {name: cells.take(rows) for name, cells in self.texts.items()}
        raw = {name: x[rows] for name, x in self.raw.items()}
        return replace(
            self, data=self.data.take(rows), texts=texts, raw=raw, place=lambda row: self.place(int(rows[row]))
        )

    def with_case_of(self, names: Sequence[str]) -> Table:
        """The table with those ``names`` that its own names have in another case; a note says so."""
        other = {name.casefold(): name for name in self.columns if name not in names}
        own = {other[name.casefold()]: name for name in names if name not in self.columns and name.casefold() in other}
        notes = [f"{self.file}: column {mine!r} was read as {name!r}" for mine, name in own.items()]
        texts = {own.get(name, name): cells for name, cells in self.texts.items()}
        data = self.data.rename_columns([own.get(name, name) for name in self.columns])
        return replace(self, data=data, texts=texts, notes=(*self.notes, *notes)) if own else self

    def checked(self) -> Table:
        """This table, or :class:`TableError` with its faults."""
        if self.faults:
            raise TableError(self.faults)
        return self


def open_table(given: Any, name: str, is_raw: IsRaw | None = None) -> Table:
    """The table in a path, a data frame, an Arrow table or anything with the Arrow interface.

    Faults that leave a table to inspect are kept with it; others raise :class:`TableError`. ``name`` is the name of a
    table in memory. Where all columns that ``is_raw`` names hold numbers, these are in ``raw``.
    """
    if isinstance(given, Table):
        return given
    if isinstance(given, str | os.PathLike):
        with _opened(given) as file:
            names, faults = _clean_names(file.name, file.names, file.unit)
            data = _rows(file, names, is_raw)
            faults = (*faults, *file.faults())
            return _with_cells(Table(file.name, data, file.notes, faults, file.unit, file.place), is_raw)
    data = _in_memory(given)
    if data is None:
        kind = type(given).__name__
        raise TableError([Fault(name, f"a path, a data frame or an Arrow table is needed, not {kind}")])
    return read_table(Table(name, data), is_raw)


def read_table(table: Table, is_raw: IsRaw | None = None) -> Table:
    """A table in memory with clean names and the cells of its columns."""
    names, faults = _clean_names(table.file, table.columns, table.unit)
    return _with_cells(replace(table, data=table.data.rename_columns(names), faults=faults), is_raw)


def _with_cells(table: Table, is_raw: IsRaw | None) -> Table:
    raw = _raw_numbers(table.data, is_raw) if is_raw is not None else {}
    if not raw and len(table.columns) > MOST_COLUMNS:
        fault = table.fault(f"has {len(table.columns):,} columns; {MOST_COLUMNS:,} are allowed")
        return replace(table, faults=(*table.faults, fault))
    texts: dict[str, Cells] = {}
    faults = list(table.faults)
    for name in table.columns:
        if name in raw:
            continue
        column = table.data.column(name)
        try:
            cells = read_cells(column, table.unit == "line")
        except CellError as error:
            faults.append(table.fault(str(error), error.row, name))
            continue
        if cells is None and is_features_name(name):
            cells = list_cells(column)
        if cells is not None:
            texts[name] = cells
    return replace(table, texts=texts, raw=raw, faults=tuple(faults))


def _rows(file: TextFile | _ParquetFile, names: list[str], is_raw: IsRaw | None) -> Any:
    """The rows of a file as a :class:`pyarrow.Table`; text that holds numbers to be used as they are is not kept."""
    if is_raw is not None and any(map(is_raw, names)):
        batches = []
        for batch in _batches(file, names, is_raw):
            batch = batch.rename_columns(names)
            numbers = _raw_numbers(batch, is_raw)
            if not numbers:
                break
            columns = [numbers.get(name, batch.column(k)) for k, name in enumerate(names)]
            batches.append(pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names=names))
        else:
            if batches:
                return pa.Table.from_batches(batches)
    batches = list(_batches(file, names, is_raw))
    return pa.Table.from_batches(batches, None if batches else file.schema).rename_columns(names)


def _batches(file: TextFile | _ParquetFile, names: list[str], is_raw: IsRaw | None) -> Iterator[Any]:
    """The rows of a file, some at a time; refused where their cells would not fit in memory."""
    row = sum(_NUMBER if is_raw is not None and is_raw(name) else CELL for name in names)
    check_memory(max(file.rows * row, file.size), "unpacked, it")
    rows = 0
    for batch in file.batches():
        rows += batch.num_rows
        check_memory(rows * row, "unpacked, it")
        yield batch


def _raw_numbers(data: Any, is_raw: IsRaw) -> dict[str, np.ndarray]:
    """Column -> its numbers, (N,) float32; empty if a column has another cell, such as a missing one."""
    found: dict[str, np.ndarray] = {}
    for name in filter(is_raw, data.schema.names):
        column = data.column(name)
        try:
            column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
            if pa.types.is_string(column.type):
                column = pc.utf8_trim_whitespace(column).cast(pa.float64())
            elif not any(is_kind(column.type) for is_kind in _NUMBERS):
                return {}
            x = as_float32(column.to_numpy(zero_copy_only=False).astype(np.float64))
        except (pa.ArrowException, TypeError, ValueError):
            return {}
        if column.null_count or not np.isfinite(x).all():
            return {}
        found[name] = x
    return found


def _in_memory(given: Any) -> Any:
    """A :class:`pyarrow.Table` from an object, or None."""
    if isinstance(given, pa.Table):
        return given
    if hasattr(given, "columns") and hasattr(given, "iloc"):
        index = given.index  # whole numbers without a name are places of rows, also those of a part of a frame
        numbered = index.name is None and getattr(index, "nlevels", 1) == 1 and index.dtype.kind in "iu"
        frame = given if numbered else given.reset_index()
        columns = [_frame_column(frame.iloc[:, k]) for k in range(frame.shape[1])]
        return pa.Table.from_arrays(columns, names=[str(name) for name in frame.columns])
    return pa.table(given) if hasattr(given, "__arrow_c_stream__") else None


def _frame_column(series: Any) -> Any:
    """A column of a data frame; cells of several types become text."""
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, ValueError):
        missing = series.isna()
        return pa.array([None if gone else str(v) for v, gone in zip(series, missing, strict=True)], pa.string())


@contextmanager
def _opened(given: str | os.PathLike[str]) -> Iterator[TextFile | _ParquetFile]:
    """The file of a path, or standard input for ``-``; what is wrong with it is a :class:`TableError`."""
    path = Path(given).expanduser()
    kept = io.BytesIO(sys.stdin.buffer.read()) if str(given) == STANDARD_INPUT else None
    name = path.name if kept is None else "standard input"

    @contextmanager
    def plain() -> Iterator[Any]:
        with open_regular(path) if kept is None else io.BytesIO(kept.getvalue()) as handle:
            yield handle

    @contextmanager
    def unpacked() -> Iterator[Any]:
        with plain() as handle, gzip.GzipFile(fileobj=handle, mode="rb") as stream:
            yield stream

    try:
        with plain() as handle:
            magic = handle.read(4)
            handle.seek(0)
            if magic.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
                raise ValueError("it is a workbook or an archive, not a table; save it as CSV or Parquet")
            if magic == b"PAR1":
                yield _ParquetFile(name, handle)
                return
        yield TextFile(name, unpacked if magic.startswith(b"\x1f\x8b") else plain)
    except MemoryLimitError as error:
        raise TableError([Fault(name, str(error))]) from error
    except DrgstError:
        raise
    except FileNotFoundError:
        beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        message = f"there is no file {str(path)!r}{nearest(path.name, beside)}"
        raise TableError([Fault(name, message)]) from None
    except _DAMAGE as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
        raise TableError([Fault(name, f"can't be read: {reason}")]) from error


class _ParquetFile:
    """A Parquet file, with the interface of :class:`TextFile`."""

    unit, notes = "row", ()

    def __init__(self, name: str, handle: Any) -> None:
        self.name = name
        file = parquet.ParquetFile(handle)
        texts = [column.name for column in file.schema_arrow if pa.types.is_string(column.type)]
        self.file = parquet.ParquetFile(handle, read_dictionary=texts)  # a text that repeats is in memory once
        self.schema = self.file.schema_arrow
        self.names = self.schema.names
        self.rows, self.size = file.metadata.num_rows, _unpacked_size(file)

    def batches(self) -> Iterator[Any]:
        yield from self.file.iter_batches(ROWS)

    def faults(self) -> list[Fault]:
        return []

    def place(self, row: int) -> int:
        return row + 1


def _unpacked_size(file: Any) -> int:
    """Bytes of a Parquet file in memory, at least, by its header; lists may be packed as densely as repeated cells."""
    groups = [file.metadata.row_group(k) for k in range(file.num_row_groups)]
    lists = [k for k in range(file.metadata.num_columns) if file.schema.column(k).max_repetition_level]
    entries = sum(group.column(k).num_values for group in groups for k in lists)
    return max(CELL * entries, sum(group.total_byte_size for group in groups))


def _clean_names(file: str, given: Sequence[str], unit: str) -> tuple[list[str], tuple[Fault, ...]]:
    """Stripped and unique column names, and faults; a blank name becomes ``column 3``, a repeated one is a fault."""
    raw = [str(name).strip().removeprefix("\ufeff") for name in given]
    names = [name or f"column {k}" for k, name in enumerate(raw, start=1)]
    found: list[tuple[str, str | None]] = [
        (f"{count} columns have this name: names must differ", name)
        for name, count in Counter(names).items()
        if count > 1
    ]
    longest = max(map(len, names), default=0)
    if longest > LONGEST_NAME:
        found.append((f"a column name has {longest} characters; {LONGEST_NAME} are allowed", None))
        names = [name if len(name) <= LONGEST_NAME else f"column {k}" for k, name in enumerate(names, start=1)]
    if any("\0" in name for name in names):
        found.append(("a column name holds a zero byte", None))
    if unit == "line" and len(names) > 1 and all(map(is_number, raw)):
        found.append((f"the first line holds {some(raw)}: a header line with column names is missing", None))
    seen: set[str] = set()
    for k, name in enumerate(names):
        names[k] = f"{name} (column {k + 1})" if name in seen else name
        seen.add(name)
    line = 1 if unit == "line" else None
    return names, tuple(Fault(file, message, line, name, unit=unit) for message, name in found)


def is_number(text: str) -> bool:
    """Whether Python reads the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
