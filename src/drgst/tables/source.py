"""Tables from files and from memory: CSV of any delimiter and common encoding, gzip, Parquet, Arrow, data frames."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from drgst.tables.faults import Problem, counted, some

_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}  # the delimiters that are detected
LONGEST_NAME = 1000  # characters of a column name
_BLOCK = 1 << 24  # bytes: a row must fit in a block
_HEAD = 1 << 16  # bytes from which the delimiter is detected
_SAMPLE = 100  # rows from which the delimiter is detected
_DAMAGE = (OSError, EOFError, zlib.error, UnicodeError, csv.Error, pa.ArrowException, ValueError)


@dataclass(frozen=True, eq=False)
class Table:
    """A table with unique column names, and where each of its rows is."""

    file: str  # as messages name it
    data: Any  # pyarrow.Table
    notes: tuple[str, ...] = ()
    unit: str = "row"  # what ``place`` counts
    place: Callable[[int], int] = lambda row: row + 1  # 0-based row -> 1-based line or row

    @property
    def columns(self) -> list[str]:
        """The column names."""
        return list(self.data.column_names)

    def problem(self, message: str, row: int | None = None, column: str | None = None, **remedy: str) -> Problem:
        """A fault of this table; ``row`` counts from 0."""
        where = None if row is None else self.place(row)
        return Problem(self.file, message, where, column, unit=self.unit, **remedy)


def open_table(given: Any, name: str, problems: list[Problem]) -> Table | None:
    """The table in a path, a data frame, an Arrow table or anything with the Arrow interface.

    Faults are appended to ``problems``; None if there is no table to look at. ``name`` stands for tables in memory.
    """
    if isinstance(given, Table):
        return given
    if isinstance(given, str | os.PathLike):
        return _open_path(Path(given).expanduser(), problems)
    data = _in_memory(given)
    if data is None:
        kind = type(given).__name__
        problems.append(Problem(name, f"a path, a data frame or an Arrow table is needed, not {kind}"))
        return None
    return _named(Table(name, data), problems)


def _in_memory(given: Any) -> Any:
    """A :class:`pyarrow.Table` from an object, or None."""
    if isinstance(given, pa.Table):
        return given
    if hasattr(given, "columns") and hasattr(given, "iloc"):
        frame = given if _row_numbers(given.index) else given.reset_index()
        columns = [_frame_column(frame.iloc[:, k]) for k in range(frame.shape[1])]
        return pa.Table.from_arrays(columns, names=[str(name) for name in frame.columns])
    if hasattr(given, "__arrow_c_stream__"):
        return pa.table(given)
    return None


def _row_numbers(index: Any) -> bool:
    return index.name is None and getattr(index, "nlevels", 1) == 1 and type(index).__name__ == "RangeIndex"


def _frame_column(series: Any) -> Any:
    """A column of a data frame; cells of several types become text."""
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        missing = series.isna()
        return pa.array(
            [None if gone else str(value) for value, gone in zip(series, missing, strict=True)], pa.string()
        )


def _open_path(path: Path, problems: list[Problem]) -> Table | None:
    try:
        with open(path, "rb") as handle:
            magic = handle.read(4)
        if magic == b"PAR1":
            with open(path, "rb") as handle:
                data = parquet.ParquetFile(handle).read()
            return _named(Table(path.name, data), problems)
        if magic.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
            problems.append(Problem(path.name, "is a workbook or an archive, not a table: save it as CSV or Parquet"))
            return None
        return _TextFile(path, gzipped=magic.startswith(b"\x1f\x8b")).read(problems)
    except FileNotFoundError:
        problems.append(Problem(path.name, f"there is no file {str(path)!r}"))
    except _DAMAGE as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
        problems.append(Problem(path.name, f"can't be read: {reason}"))
    return None


class _TextFile:
    """A CSV file: its encoding, delimiter and header, and the line of each row."""

    def __init__(self, path: Path, gzipped: bool) -> None:
        self.path = path
        self.gzipped = gzipped
        self.invalid: list[int] = []  # numbers of the rows with another number of cells, counted from 0
        self.first_line = 0  # lines up to the end of the header

    def read(self, problems: list[Problem]) -> Table | None:
        self.encoding = self._find_encoding()
        head = self._head()
        if not "".join(head).strip():
            problems.append(Problem(self.path.name, "is empty: a header line with column names is needed"))
            return None
        if "\0" in "".join(head):
            problems.append(Problem(self.path.name, "is not a text file: it holds zero bytes"))
            return None
        self.delimiter = _delimiter(head)
        names = self._names()
        unclosed = self._unclosed_quote()
        if unclosed:
            message = "a quoted cell starts here and never ends: the quotes of the file do not pair up"
            problems.append(Problem(self.path.name, message, unclosed, unit="line"))
            return None
        widths: dict[int, int] = {}

        def skip(row: Any) -> str:
            widths[len(self.invalid)] = row.actual_columns
            self.invalid.append(row.number - 2)
            return "skip"

        with self._bytes() as handle:
            data = arrow_csv.read_csv(
                handle,
                read_options=arrow_csv.ReadOptions(
                    use_threads=False,  # threads hide the row number
                    block_size=_BLOCK,
                    column_names=[str(k) for k in range(len(names))],
                    skip_rows=self.first_line,
                    encoding=self.encoding,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=skip
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types={str(k): pa.string() for k in range(len(names))}, strings_can_be_null=False
                ),
            )
        table = Table(self.path.name, data.rename_columns(names), self._notes(), "line", self.line)
        if self.invalid:
            problems.append(self._ragged(widths[0], len(names)))
        return _named(table, problems)

    def line(self, row: int) -> int:
        """The 1-based line in which a row (counted from 0, without invalid rows) starts."""
        number = row
        for invalid in sorted(self.invalid):
            number += invalid <= number
        return self._start(number)

    def _start(self, number: int) -> int:
        """The line in which the row ``number``, counted from 0 below the header, starts; blank lines are no rows."""
        for k, (line, _) in enumerate(self._rows()):
            if k == number:
                return line
        return 0

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """(first line, cells) of each row below the header."""
        with self._text() as handle:
            for _ in range(self.first_line):
                next(handle, None)
            reader = csv.reader(handle, delimiter=self.delimiter)
            start = self.first_line + 1
            for cells in reader:
                if cells:
                    yield start, cells
                start = self.first_line + reader.line_num + 1

    def _unclosed_quote(self) -> int | None:
        """The line of a quoted cell that never ends, or None. Arrow would read the rest of the file as that cell."""
        with self._bytes() as handle:
            marks = sum(piece.count(b'"') for piece in iter(lambda: handle.read(_BLOCK), b""))
        if marks % 2 == 0:
            return None
        with self._text() as handle:
            reader = csv.reader(handle, delimiter=self.delimiter, strict=True)
            start = 1
            try:
                for _ in reader:
                    start = reader.line_num + 1
            except csv.Error:
                return start
        return None

    def _ragged(self, width: int, expected: int) -> Problem:
        rows = counted(len(self.invalid), "row")
        cause = f"a cell with {_NAMES[self.delimiter]} needs quotes" if width > expected else "cells are missing"
        message = f"has {counted(width, 'cell')}, but the header has {expected} ({rows} like this): {cause}"
        return Problem(self.path.name, message, self._start(self.invalid[0]), unit="line")

    def _names(self) -> list[str]:
        with self._text() as handle:
            reader = csv.reader(handle, delimiter=self.delimiter)
            names = next(cells for cells in reader if cells)
            self.first_line = reader.line_num
            return names

    def _notes(self) -> tuple[str, ...]:
        notes = []
        if self.delimiter != ",":
            notes.append(f"{self.path.name}: cells are separated by {_NAMES[self.delimiter]}")
        if self.encoding != "utf-8":
            notes.append(f"{self.path.name} is not UTF-8; it was read as {self.encoding}")
        return tuple(notes)

    def _head(self) -> list[str]:
        """The first lines, without one that is cut off."""
        with self._bytes() as handle:
            raw = handle.read(_HEAD)
        text = raw.decode(self.encoding, errors="ignore").removeprefix("\ufeff")
        lines = text.splitlines(keepends=True)
        return lines[:-1] if len(raw) == _HEAD and len(lines) > 1 else lines

    def _find_encoding(self) -> str:
        """UTF-8, UTF-16 by its byte order mark, or Windows-1252 (which spreadsheets write)."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self._bytes() as handle:
            if handle.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                return "utf-16"
            handle.seek(0)
            try:
                for piece in iter(lambda: handle.read(_BLOCK), b""):
                    decoder.decode(piece)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                return "cp1252"
        return "utf-8"

    def _bytes(self) -> Any:
        return gzip.open(self.path, "rb") if self.gzipped else open(self.path, "rb")

    def _text(self) -> io.TextIOWrapper:
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        return io.TextIOWrapper(self._bytes(), encoding=encoding, newline="")


def _delimiter(lines: Sequence[str]) -> str:
    """The delimiter that gives most rows the width of the header, the widest of several; a comma if none does."""
    best, score = ",", (0.0, 1)
    for delimiter in _NAMES:
        try:
            widths = [len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells][:_SAMPLE]
        except csv.Error:
            continue
        alike = sum(width == widths[0] for width in widths) / len(widths)
        if widths[0] > 1 and (alike, widths[0]) > score:
            best, score = delimiter, (alike, widths[0])
    return best


def _named(table: Table, problems: list[Problem]) -> Table:
    """The table with stripped column names; a blank name becomes ``column 3``, a repeated one is a fault."""
    unit = table.unit
    raw = [str(name).strip().removeprefix("\ufeff") for name in table.columns]
    names = [name or f"column {k}" for k, name in enumerate(raw, start=1)]
    first = 1 if unit == "line" else None
    for name, count in Counter(names).items():
        if count > 1:
            message = f"{count} columns have this name: names must differ"
            problems.append(Problem(table.file, message, first, name, unit=unit))
    longest = max((len(name) for name in names), default=0)
    if longest > LONGEST_NAME:
        message = f"a column name has {longest} characters; {LONGEST_NAME} are allowed"
        problems.append(Problem(table.file, message, first, unit=unit))
    if unit == "line" and len(names) > 1 and all(_is_number(name) for name in raw):
        message = f"the first line holds {some(raw)}: a header line with column names is missing"
        problems.append(Problem(table.file, message, 1, unit=unit))
    unique = [name if name not in names[:k] else f"{name} (column {k + 1})" for k, name in enumerate(names)]
    return Table(table.file, table.data.rename_columns(unique), table.notes, unit, table.place)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
