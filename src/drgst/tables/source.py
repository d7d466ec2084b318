"""Tables from files and from memory: CSV of any delimiter and common encoding, gzip, Parquet, Arrow, data frames."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from drgst.errors import DrgstError, MemoryLimitError
from drgst.files import open_regular, original_cell
from drgst.memory import available_memory, check_memory
from drgst.tables.faults import Fault, TableError, counted, some

STANDARD_INPUT = "-"
LONGEST_NAME = 1000  # characters of a column name
ROWS = 100_000  # of a batch of a Parquet file
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}  # the delimiters that are detected
_BLOCK = 1 << 24  # bytes: a row must fit in a block
_HEAD = 1 << 16  # bytes from which the delimiter is detected
_SAMPLE = 100  # rows from which the delimiter is detected
_CELL = 16  # bytes of a Parquet cell in memory, at least
_DAMAGE = (OSError, EOFError, zlib.error, UnicodeError, csv.Error, pa.ArrowException, ValueError)


@dataclass(frozen=True, eq=False)
class Table:
    """A table with unique column names, and where each of its rows is."""

    file: str  # as messages name it
    data: Any  # pyarrow.Table
    notes: tuple[str, ...] = ()
    unit: str = "row"  # what ``place`` counts: lines of a text file, else rows
    place: Callable[[int], int] = lambda row: row + 1  # 0-based row -> 1-based line or row

    @cached_property
    def columns(self) -> list[str]:
        """The column names."""
        return list(self.data.column_names)

    def fault(self, message: str, row: int | None = None, column: str | None = None, **remedy: str) -> Fault:
        """A fault of this table; ``row`` counts from 0."""
        where = None if row is None else self.place(row)
        return Fault(self.file, message, where, column, unit=self.unit, **remedy)


def open_table(given: Any, name: str, faults: list[Fault]) -> Table | None:
    """The table in a path, a data frame, an Arrow table or anything with the Arrow interface.

    Faults are appended to ``faults``; None if there is no table to look at. ``name`` is the name of a table in memory.
    """
    if isinstance(given, Table):
        return given
    if isinstance(given, str | os.PathLike):
        try:
            batches = list(_read_path(given, faults, whole=True))
        except TableError as error:
            faults.extend(error.faults)
            return None
        return replace(batches[0], data=pa.concat_tables([batch.data for batch in batches]))
    data = _in_memory(given)
    if data is None:
        kind = type(given).__name__
        faults.append(Fault(name, f"a path, a data frame or an Arrow table is needed, not {kind}"))
        return None
    return _named(Table(name, data), faults)


def open_batches(path: Path) -> Iterator[Table]:
    """The table in a file that may be larger than memory, some rows at a time; faults are raised."""
    faults: list[Fault] = []
    start = 0
    for batch in _read_path(path, faults, whole=False):
        if faults:
            raise TableError(faults)
        yield replace(batch, place=partial(_later, batch.place, start))
        start += batch.data.num_rows
    if faults:
        raise TableError(faults)


def _later(place: Callable[[int], int], start: int, row: int) -> int:
    return place(start + row)


def _in_memory(given: Any) -> Any:
    """A :class:`pyarrow.Table` from an object, or None."""
    if isinstance(given, pa.Table):
        return given
    if hasattr(given, "columns") and hasattr(given, "iloc"):
        frame = given if _row_numbers(given.index) else given.reset_index()
        columns = [_frame_column(frame.iloc[:, k]) for k in range(frame.shape[1])]
        return pa.Table.from_arrays(columns, names=[str(name) for name in frame.columns])
    return pa.table(given) if hasattr(given, "__arrow_c_stream__") else None


def _row_numbers(index: Any) -> bool:
    return index.name is None and getattr(index, "nlevels", 1) == 1 and type(index).__name__ == "RangeIndex"


def _frame_column(series: Any) -> Any:
    """A column of a data frame; cells of several types become text."""
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, ValueError):
        missing = series.isna()
        return pa.array([None if gone else str(v) for v, gone in zip(series, missing, strict=True)], pa.string())


def _read_path(given: str | os.PathLike[str], faults: list[Fault], whole: bool) -> Iterator[Table]:
    """The batches of a file, each with the names, notes and places of the whole.

    Faults that leave a table to look at are appended, others are raised.
    """
    path = Path(given).expanduser()
    name = "standard input" if str(given) == STANDARD_INPUT else path.name
    try:
        with _opened(given, path) as handle:
            magic = handle.read(4)
            handle.seek(0)
            if magic.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
                raise ValueError("it is a workbook or an archive, not a table; save it as CSV or Parquet")
            if magic == b"PAR1":
                yield from _parquet_batches(handle, name, faults, whole)
            else:
                yield from _TextFile(name, handle, magic.startswith(b"\x1f\x8b"), whole).batches(faults)
    except MemoryLimitError as error:
        raise TableError([Fault(name, str(error))]) from error
    except DrgstError:
        raise
    except FileNotFoundError:
        raise TableError([Fault(name, f"there is no file {str(path)!r}")]) from None
    except _DAMAGE as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
        raise TableError([Fault(name, f"can't be read: {reason}")]) from error


@contextmanager
def _opened(given: str | os.PathLike[str], path: Path) -> Iterator[Any]:
    """The bytes of a regular file, or of standard input for ``-``."""
    if str(given) == STANDARD_INPUT:
        yield io.BytesIO(sys.stdin.buffer.read())
        return
    with open_regular(path) as handle:
        yield handle


def _parquet_batches(handle: Any, name: str, faults: list[Fault], whole: bool) -> Iterator[Table]:
    file = parquet.ParquetFile(handle)
    texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
    if whole:
        check_memory(_CELL * file.metadata.num_rows * file.metadata.num_columns, f"{name}, unpacked,")
    file = parquet.ParquetFile(handle, read_dictionary=texts)  # a text that repeats is in memory once
    empty = file.schema_arrow.empty_table()
    names = _named(Table(name, empty), faults)
    count = 0
    for batch in file.iter_batches(ROWS):
        count += 1
        yield replace(names, data=pa.Table.from_batches([batch]).rename_columns(names.columns))
    if not count:
        yield names


class _Bytes(io.RawIOBase):
    """The unpacked bytes of a text file. They are counted: the quotes, and all against the memory that there is."""

    def __init__(self, name: str, handle: Any, gzipped: bool, limited: bool) -> None:
        self.name, self.handle = name, handle
        self.file = gzip.GzipFile(fileobj=handle, mode="rb") if gzipped else handle
        self.packed = handle.seek(0, os.SEEK_END) if gzipped else 0
        self.most = available_memory() if gzipped and limited else None
        self.rewind()

    def rewind(self) -> None:
        """Start again."""
        if self.file is not self.handle:
            self.file.seek(0)
        self.handle.seek(0)
        if self.file is not self.handle:
            self.file = gzip.GzipFile(fileobj=self.handle, mode="rb")
        self.quotes = self.size = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece: bytes = self.file.read(size)
        self.quotes += piece.count(b'"')
        self.size += len(piece)
        if self.most is not None and piece:
            expected = self.size * self.packed // max(self.handle.tell(), 1)
            if self.size > self.most or (self.size >= _BLOCK and expected > 2 * self.most):
                check_memory(max(self.size, expected), f"{self.name}, unpacked,")
        return piece


class _TextFile:
    """A CSV file: its encoding, delimiter and header, and the line of each row."""

    def __init__(self, name: str, handle: Any, gzipped: bool, whole: bool) -> None:
        self.name = name
        self.path = getattr(handle, "name", None)
        self.kept = handle.getvalue() if isinstance(handle, io.BytesIO) else None
        self.gzipped, self.whole = gzipped, whole
        self.bytes = _Bytes(name, handle, gzipped, whole)
        self.encoding = "utf-8"
        self.invalid: list[int] = []  # numbers of the rows with another number of cells, counted from 0
        self.first_line = 0  # lines up to the end of the header
        self.delimiter = ","

    def batches(self, faults: list[Fault]) -> Iterator[Table]:
        """The rows; the header is checked before the first and the quotes after the last."""
        if not self._is_utf8():
            self.encoding = "cp1252"  # which spreadsheets write
        names = self._header()
        try:
            found = iter(list(self._arrow_batches(names))) if self.whole else self._arrow_batches(names)
        except pa.ArrowInvalid:
            self._check_quotes()
            raise
        first = True
        for batch in found:
            yield self._table(batch, names, faults if first else [])
            first = False
        if first:  # every row has another number of cells
            yield self._table(_no_rows(names), names, faults)
        self._check_quotes()
        if self.invalid:
            faults.append(self._ragged(len(names)))

    def line(self, row: int) -> int:
        """The 1-based line in which a row (counted from 0, without invalid rows) starts."""
        number = row
        for invalid in sorted(self.invalid):
            number += invalid <= number
        return self._start(number)

    def _table(self, batch: Any, names: list[str], faults: list[Fault]) -> Table:
        data = pa.Table.from_batches([batch]).rename_columns(names)
        return _named(Table(self.name, data, self._notes(), "line", self.line), faults)

    def _is_utf8(self) -> bool:
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for piece in iter(lambda: self.bytes.read(_BLOCK), b""):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        return True

    def _header(self) -> list[str]:
        """The column names; sets encoding, delimiter and the lines of the header."""
        self.bytes.rewind()
        head = self.bytes.read(_HEAD)
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self.encoding = "utf-16"
        while (lines := self._lines(head)) and len(lines) < 2 and len(head) < _BLOCK:
            more = self.bytes.read(len(head))
            if not more:
                break
            head += more
        self.ended = not self.bytes.read(1)
        if not self.ended and len(lines) > 1:
            lines = lines[:-1]  # which may be cut off
        if not "".join(lines).strip():
            raise TableError([Fault(self.name, "is empty: a header line with column names is needed")])
        if "\0" in "".join(lines):
            raise TableError([Fault(self.name, "is not a text file: it holds zero bytes")])
        self.delimiter = _delimiter(lines)
        with _large_cells():
            reader = csv.reader(lines, delimiter=self.delimiter)
            names = next(cells for cells in reader if cells)
            self.first_line = reader.line_num
        self.ended = self.ended and not "".join(lines[self.first_line :]).strip()
        return [original_cell(name) for name in names]

    def _lines(self, head: bytes) -> list[str]:
        text = head.decode(self.encoding, errors="ignore").removeprefix("\ufeff")
        return io.StringIO(text, newline="").readlines()

    def _arrow_batches(self, names: list[str]) -> Iterator[Any]:
        self.bytes.rewind()
        self.invalid.clear()
        columns = [str(k) for k in range(len(names))]
        if self.ended:  # a header and no row, which Arrow does not read
            yield _no_rows(columns)
            return
        self.widths: list[int] = []

        def skip(row: Any) -> str:
            self.widths.append(row.actual_columns)
            self.invalid.append(row.number - 2)
            return "skip"

        options: dict[str, Any] = {
            "read_options": arrow_csv.ReadOptions(
                use_threads=False,  # threads hide the row number
                block_size=_BLOCK,
                column_names=columns,
                skip_rows=self.first_line,
                encoding=self.encoding,
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
            ),
        }
        with arrow_csv.open_csv(self.bytes, **options) as reader:
            yield from reader

    def _start(self, number: int) -> int:
        """The line in which the row ``number``, counted from 0 below the header, starts; blank lines are no rows."""
        with _large_cells(), self._text() as handle:
            for _ in range(self.first_line):
                next(handle, None)
            reader = csv.reader(handle, delimiter=self.delimiter)
            start, count = self.first_line + 1, -1
            for cells in reader:
                count += bool(cells)
                if count == number:
                    return start
                start = self.first_line + reader.line_num + 1
        return 0

    def _check_quotes(self) -> None:
        """Refuse a quoted cell that never ends. Arrow reads the rest of the file as that cell."""
        if self.bytes.quotes % 2 == 0:
            return
        with _large_cells(), self._text() as handle:
            reader = csv.reader(handle, delimiter=self.delimiter, strict=True)
            start = 1
            try:
                for _ in reader:
                    start = reader.line_num + 1
            except csv.Error:
                message = "a quoted cell starts here and never ends: the quotes of the file do not pair up"
                raise TableError([Fault(self.name, message, start, unit="line")]) from None

    def _ragged(self, expected: int) -> Fault:
        rows, width = counted(len(self.invalid), "row"), self.widths[0]
        cause = f"a cell with {_NAMES[self.delimiter]} needs quotes" if width > expected else "cells are missing"
        message = f"has {counted(width, 'cell')}, but the header has {expected} ({rows} like this): {cause}"
        return Fault(self.name, message, self._start(self.invalid[0]), unit="line")

    def _notes(self) -> tuple[str, ...]:
        notes = []
        if self.delimiter != ",":
            notes.append(f"{self.name}: cells are separated by {_NAMES[self.delimiter]}")
        if self.encoding != "utf-8":
            notes.append(f"{self.name} is not UTF-8; it was read as {self.encoding}")
        return tuple(notes)

    def _text(self) -> io.TextIOWrapper:
        """The file as text, opened again: only a fault needs it."""
        source = io.BytesIO(self.kept) if self.kept is not None else open(str(self.path), "rb")  # noqa: SIM115
        plain: Any = gzip.GzipFile(fileobj=source, mode="rb") if self.gzipped else source
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        return io.TextIOWrapper(plain, encoding=encoding, errors="replace", newline="")


def _no_rows(names: list[str]) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([], pa.string()) for _ in names], names=names)


@contextmanager
def _large_cells() -> Iterator[None]:
    """Let the csv module read cells of any length."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _delimiter(lines: list[str]) -> str:
    """The delimiter that gives most rows the width of the header, the widest of several; a comma if none does."""
    best, score = ",", (0.0, 1)
    for delimiter in _NAMES:
        try:
            with _large_cells():
                widths = [len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells][:_SAMPLE]
        except csv.Error:
            continue
        alike = sum(width == widths[0] for width in widths) / len(widths)
        if widths[0] > 1 and (alike, widths[0]) > score:
            best, score = delimiter, (alike, widths[0])
    return best


def _named(table: Table, faults: list[Fault]) -> Table:
    """The table with stripped column names; a blank name becomes ``column 3``, a repeated one is a fault."""
    unit = table.unit
    raw = [str(name).strip().removeprefix("\ufeff") for name in table.columns]
    names = [name or f"column {k}" for k, name in enumerate(raw, start=1)]
    first = 1 if unit == "line" else None
    for name, count in Counter(names).items():
        if count > 1:
            message = f"{count} columns have this name: names must differ"
            faults.append(Fault(table.file, message, first, name, unit=unit))
    longest = max((len(name) for name in names), default=0)
    if longest > LONGEST_NAME:
        message = f"a column name has {longest} characters; {LONGEST_NAME} are allowed"
        faults.append(Fault(table.file, message, first, unit=unit))
        names = [name if len(name) <= LONGEST_NAME else f"column {k}" for k, name in enumerate(names, start=1)]
    if any("\0" in name for name in names):
        faults.append(Fault(table.file, "a column name holds a zero byte", first, unit=unit))
    if unit == "line" and len(names) > 1 and all(_is_number(name) for name in raw):
        message = f"the first line holds {some(raw)}: a header line with column names is missing"
        faults.append(Fault(table.file, message, 1, unit=unit))
    seen: set[str] = set()
    for k, name in enumerate(names):
        names[k] = f"{name} (column {k + 1})" if name in seen else name
        seen.add(name)
    return replace(table, data=table.data.rename_columns(names))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
