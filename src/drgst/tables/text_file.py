"""CSV files of any delimiter and common encoding, read by Arrow."""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from drgst.files import original_cell
from drgst.memory import available_memory, check_memory
from drgst.tables.faults import Fault, TableError, counted

_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}  # the delimiters that are detected
_BLOCK = 1 << 24  # bytes: a row must fit in a block
_HEAD = 1 << 16  # characters in which there is no zero byte in a text file
_SAMPLE = 100  # rows from which the delimiter is detected
CELL = 26  # bytes of a cell in memory, at least, as measured on texts that repeat


class TextFile:
    """A CSV file: its encoding, delimiter and header, its rows, and the line of each row.

    ``opened`` opens its unpacked bytes. They are read twice: once to find the encoding and cells that never end, once
    by Arrow.
    """

    unit, rows, size = "line", 0, 0  # a text file does not say how many rows it has

    def __init__(self, name: str, opened: Callable[[], Any], limited: bool) -> None:
        self.name, self.opened = name, opened
        self.encoding = "utf-8"
        self.invalid: list[tuple[int, int]] = []  # rows of another width, counted from 0, and their widths
        head, whole, quotes = self._scan(available_memory() if limited else None)
        self._read_header(head, whole)
        if quotes % 2:
            self._check_quotes()

    @property
    def notes(self) -> tuple[str, ...]:
        """What may surprise about the file."""
        delimiter = f"{self.name}: cells are separated by {_NAMES[self.delimiter]}" if self.delimiter != "," else ""
        encoding = f"{self.name} is not UTF-8; it was read as {self.encoding}" if self.encoding != "utf-8" else ""
        return tuple(note for note in (delimiter, encoding) if note)

    def batches(self) -> Iterator[Any]:
        """The rows as text, some at a time; at least one batch."""
        names = [str(k) for k in range(len(self.names))]
        count = 0
        for batch in self._rows(names) if self.has_rows else ():
            count += 1
            yield batch
        if not count:  # no row below the header, or none of its width
            yield pa.RecordBatch.from_arrays([pa.array([], pa.string()) for _ in names], names=names)

    def faults(self) -> list[Fault]:
        """The fault of rows with another number of cells, when all rows were read."""
        if not self.invalid:
            return []
        (row, width), expected = self.invalid[0], len(self.names)
        cause = f"a cell with {_NAMES[self.delimiter]} needs quotes" if width > expected else "cells are missing"
        like = counted(len(self.invalid), "row")
        message = f"has {counted(width, 'cell')}, but the header has {expected} ({like} like this): {cause}"
        return [Fault(self.name, message, self._start(row), unit="line")]

    def place(self, row: int) -> int:
        """The 1-based line in which a row (counted from 0, without invalid rows) starts."""
        for invalid, _ in sorted(self.invalid):
            row += invalid <= row
        return self._start(row)

    def _scan(self, most: int | None) -> tuple[bytes, bool, int]:
        """The first block, whether it is the whole file, and the number of quotes; sets the encoding.

        A packed file that does not fit in ``most`` bytes is refused as soon as that can be expected.
        """
        decoder = codecs.getincrementaldecoder("utf-8")()
        head, size, quotes, lines = b"", 0, 0, 0
        with self.opened() as stream:
            packed = getattr(stream, "fileobj", None)  # of a gzip file
            piece = None
            while piece != b"":
                piece = stream.read(_BLOCK)
                head = head or piece
                size += len(piece)
                quotes += piece.count(b'"')
                lines += piece.count(b"\n")
                if packed is not None and most is not None:  # without quotes, each line is a row
                    _check_size(size if quotes else max(size, CELL * lines), most, packed)
                try:
                    decoder.decode(piece, final=not piece)
                except UnicodeDecodeError:
                    self.encoding = "cp1252"  # which spreadsheets write
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self.encoding = "utf-16"
        return head, size == len(head), quotes

    def _read_header(self, head: bytes, whole: bool) -> None:
        """Set the delimiter, the column names, the lines of the header and whether there are rows below it."""
        text = head.decode(self.encoding, errors="ignore").removeprefix("\ufeff")
        if not text or text.isspace():
            raise TableError([Fault(self.name, "is empty: a header line with column names is needed")])
        if "\0" in text[:_HEAD]:  # one further below is a fault of its cell
            raise TableError([Fault(self.name, "is not a text file: it holds zero bytes")])
        self.delimiter = _delimiter(text)
        lines = io.StringIO(text, newline="")
        with _large_cells():
            reader = csv.reader(lines, delimiter=self.delimiter)
            self.names = [original_cell(name) for name in next(cells for cells in reader if cells)]
        self.first_line = reader.line_num
        self.has_rows = not whole or any(line.strip() for line in lines)

    def _rows(self, names: list[str]) -> Iterator[Any]:
        def skip(row: Any) -> str:
            self.invalid.append((row.number - 2, row.actual_columns))
            return "skip"

        self.invalid.clear()
        reading = arrow_csv.ReadOptions(
            use_threads=False,  # threads hide the row number
            block_size=_BLOCK,
            column_names=names,
            skip_rows=self.first_line,
            encoding=self.encoding,
        )
        parsing = arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=skip)
        texts = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
        with self.opened() as stream, arrow_csv.open_csv(stream, reading, parsing, texts) as reader:
            yield from reader

    def _start(self, number: int) -> int:
        """The line in which the row ``number``, counted from 0 below the header, starts; blank lines do not count."""
        with self._text() as lines:
            for _ in range(self.first_line):
                next(lines, None)
            reader = csv.reader(lines, delimiter=self.delimiter)
            start, count = self.first_line + 1, -1
            for cells in reader:
                count += bool(cells)
                if count == number:
                    return start
                start = self.first_line + reader.line_num + 1
        return 0

    def _check_quotes(self) -> None:
        """Refuse a quoted cell that never ends. Arrow would read the rest of the file as that cell."""
        with self._text() as lines:
            reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
            start = 1
            try:
                for _ in reader:
                    start = reader.line_num + 1
            except csv.Error:
                message = "a quoted cell starts here and never ends: the quotes of the file do not pair up"
                raise TableError([Fault(self.name, message, start, unit="line")]) from None

    @contextmanager
    def _text(self) -> Iterator[Iterator[str]]:
        """The lines of the file, which only a fault needs."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        with self.opened() as stream, _large_cells():
            yield io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")


def _check_size(size: int, most: int, packed: Any) -> None:
    """Refuse a gzip file, the part of which that was read takes ``size`` bytes, that does not fit in ``most`` bytes."""
    read = packed.tell()
    whole = packed.seek(0, io.SEEK_END)
    packed.seek(read)
    expected = size * whole // max(read, 1)
    if size > most or (size >= _BLOCK and expected > 2 * most):
        check_memory(max(size, expected), "unpacked, it")


@contextmanager
def _large_cells() -> Iterator[None]:
    """Let the csv module read cells of any length."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _delimiter(text: str) -> str:
    """The delimiter that gives most rows the width of the header, the widest of several; a comma if none does."""
    best, score = ",", (0.0, 1)
    for delimiter in _NAMES:
        with _large_cells():
            rows = filter(None, csv.reader(io.StringIO(text[: _BLOCK >> 4], newline=""), delimiter=delimiter))
            widths = [len(cells) for cells in islice(rows, _SAMPLE)]
        alike = sum(width == widths[0] for width in widths) / len(widths)
        if widths[0] > 1 and (alike, widths[0]) > score:
            best, score = delimiter, (alike, widths[0])
    return best
