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

    def __init__(self, name: str, opened: Callable[[], Any]) -> None:
        self.name, self.opened = name, opened
        self.invalid: list[tuple[int, int]] = []  # rows of another width, counted from 0, and their widths
        head, whole, quotes = self._scan()
        text = head.decode(self.encoding, errors="ignore").removeprefix("\ufeff")
        if not text or text.isspace():
            raise TableError([Fault(name, "is empty: a header line with column names is needed")])
        if "\0" in text[:_HEAD]:  # one further below is a fault of its cell
            raise TableError([Fault(name, "is not a text file: it holds zero bytes")])
        self.delimiter = _delimiter(text)
        lines = io.StringIO(text, newline="")
        with _large_cells():
            reader = csv.reader(lines, delimiter=self.delimiter)
            self.names = [original_cell(cell) for cell in next(cells for cells in reader if cells)]
        self.first_line = reader.line_num
        self.has_rows = not whole or any(line.strip() for line in lines)
        if quotes % 2:
            self._check_quotes()
        delimiter = f"{name}: cells are separated by {_NAMES[self.delimiter]}" if self.delimiter != "," else ""
        encoding = f"{name} is not UTF-8; it was read as {self.encoding}" if self.encoding != "utf-8" else ""
        self.notes = tuple(note for note in (delimiter, encoding) if note)  # what may surprise

    @property
    def schema(self) -> Any:
        """Arrow's names, which are places, and types of the columns."""
        return pa.schema([(str(k), pa.string()) for k in range(len(self.names))])

    def batches(self) -> Iterator[Any]:
        """The rows as text, some at a time."""

        def skip(row: Any) -> str:
            self.invalid.append((row.number - 2, row.actual_columns))
            return "skip"

        if not self.has_rows:
            return
        self.invalid.clear()
        reading = arrow_csv.ReadOptions(
            use_threads=False,  # threads hide the row number
            block_size=_BLOCK,
            column_names=self.schema.names,
            skip_rows=self.first_line,
            encoding=self.encoding,
        )
        parsing = arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=skip)
        texts = arrow_csv.ConvertOptions(column_types=self.schema, strings_can_be_null=False)
        with self.opened() as stream, arrow_csv.open_csv(stream, reading, parsing, texts) as reader:
            yield from reader

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

    def _scan(self) -> tuple[bytes, bool, int]:
        """The first block, whether it is the whole file, and the number of quotes; sets the encoding."""
        self.encoding = "utf-8"
        decoder = codecs.getincrementaldecoder("utf-8")()
        head, size, quotes = b"", 0, 0
        with self.opened() as stream:
            for piece in pieces(stream, CELL):
                head = head or piece
                size += len(piece)
                quotes += piece.count(b'"')
                try:
                    decoder.decode(piece, final=not piece)
                except UnicodeDecodeError:
                    self.encoding = "cp1252"  # which spreadsheets write
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self.encoding = "utf-16"
        return head, size == len(head), quotes

    def _start(self, number: int) -> int:
        """The line in which the row ``number``, counted from 0 below the header, starts; blank lines do not count."""
        with self._lines() as lines:
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
        with self._lines() as lines:
            reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
            start = 1
            try:
                for _ in reader:
                    start = reader.line_num + 1
            except csv.Error:
                message = "a quoted cell starts here and never ends: the quotes of the file do not pair up"
                raise TableError([Fault(self.name, message, start, unit="line")]) from None

    @contextmanager
    def _lines(self) -> Iterator[Iterator[str]]:
        """The lines of the file, which only a fault needs."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        with self.opened() as stream, _large_cells():
            yield io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")


def pieces(stream: Any, row: int = 0, share: int = 1) -> Iterator[bytes]:
    """The content of a stream, with an empty piece at the end.

    A gzip file is refused as soon as its content, or ``row`` bytes per line, can be expected to exceed 1 / ``share`` of
    the available memory.
    """
    packed, most = getattr(stream, "fileobj", None), available_memory()
    size, lines, quotes = 0, 0, 0
    piece = None
    while piece != b"":
        piece = stream.read(_BLOCK)
        size, lines, quotes = size + len(piece), lines + piece.count(b"\n"), quotes + piece.count(b'"')
        if packed is not None and most is not None:
            needed = share * (size if quotes else max(size, row * lines))  # without quotes, each line is a row
            read = packed.tell()
            expected = needed * packed.seek(0, io.SEEK_END) // max(read, 1)
            packed.seek(read)
            if needed > most or (needed >= _BLOCK and expected > 2 * most):
                check_memory(max(needed, expected), "unpacked, it")
        yield piece


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
