"""The cells of one column: its distinct texts, and which one each row has."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from drgst.tables.naming import are_whole, without_decimals

MISSING = ("", "na", "n/a", "#n/a", "nan", "nat", "null", "nil", "none", "<na>", "-", "--", "?")  # in any case
_APOSTROPHE = r"^'('*[=+\-@\t\r])"  # as :func:`drgst.files.inert_cell` writes it
MOST_TEXT = 1 << 30  # bytes of the distinct texts of a column: Arrow makes texts of up to 2 GB in lower case
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Cells:
    """N cells: V distinct texts and, per row, the index of its text, -1 if it is missing."""

    values: Any  # pyarrow.StringArray, (V,)
    codes: np.ndarray  # (N,) int64
    _parsed: dict[Hashable, Any] = field(default_factory=dict)  # what was read from ``values``

    @property
    def rows(self) -> int:
        """N."""
        return self.codes.size

    @cached_property
    def missing(self) -> np.ndarray:
        """Which rows are missing, (N,)."""
        return self.codes < 0

    @cached_property
    def counts(self) -> np.ndarray:
        """Rows per distinct text, (V,)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    @cached_property
    def texts(self) -> list[str]:
        """The distinct texts as a list."""
        return self.values.to_pylist()

    @cached_property
    def ids(self) -> list[str]:
        """The distinct texts as ids: ``7.0`` is ``7`` if all are whole numbers."""
        return without_decimals(self.texts) if are_whole(self.texts) else self.texts

    def share_in(self, ids: Container[str]) -> float:
        """The share of the distinct ids that are among ``ids``."""
        return float(np.mean([text in ids for text in self.ids])) if self.texts else 0.0

    def text(self, row: int) -> str:
        """The text of a row, empty where it is missing."""
        return "" if self.codes[row] < 0 else self.texts[self.codes[row]]

    @cached_property
    def known(self) -> Cells:
        """The same cells, where the words of :data:`MISSING` count as missing."""
        if not pa.types.is_string(self.values.type):  # lists of numbers
            return self
        return self._without(pc.is_in(pc.utf8_lower(self.values), value_set=pa.array(MISSING, pa.string())))

    def _without(self, texts: Any) -> Cells:
        """The same cells, where the texts of an Arrow mask, (V,), count as missing."""
        gone = texts.to_numpy(zero_copy_only=False)
        if not gone.any():
            return self
        index = np.append(np.where(gone, -1, np.cumsum(~gone) - 1), -1)
        return Cells(self.values.filter(pa.array(~gone)), index[self.codes].astype(np.int64))

    def parsed(self, what: Hashable, parse: Callable[[Any], T]) -> T:
        """``parse(values)``, computed once per column."""
        if what not in self._parsed:
            self._parsed[what] = parse(self.values)
        return self._parsed[what]

    def with_rows(self, codes: np.ndarray) -> Cells:
        """Other rows with the same distinct texts."""
        return Cells(self.values, codes, self._parsed)

    def take(self, rows: np.ndarray) -> Cells:
        """Some of the rows, without the texts that none of them has."""
        taken = self.with_rows(self.codes[rows])
        return taken._without(pa.array(taken.counts == 0))

    def spread(self, per_value: np.ndarray, missing: Any) -> np.ndarray:
        """One entry per distinct text as one entry per row, (N,)."""
        return np.append(per_value, missing)[self.codes]  # code -1 is the last

    def chosen(self, mask: np.ndarray) -> tuple[list[str], int]:
        """The texts that a mask, (V,), marks, and the number of their rows."""
        return [str(self.texts[k]) for k in np.flatnonzero(mask).tolist()], int(self.counts[mask].sum())

    def first_row(self, chosen: np.ndarray) -> int:
        """The first row whose text is among the chosen, given a mask of the texts, (V,)."""
        return int(np.flatnonzero(self.spread(chosen, False))[0])

    def share(self, chosen: np.ndarray) -> float:
        """The share of the cells with a text whose text is among the chosen."""
        return float(self.counts[chosen].sum() / max(self.counts.sum(), 1))


class CellError(ValueError):
    """A cell that can't be read as text; ``row`` counts from 0 and is None if all cells are affected."""

    def __init__(self, message: str, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


def read_cells(column: Any, from_text_file: bool = False) -> Cells | None:
    """The cells of an Arrow column as text without surrounding blanks; None for a type that is not read, such as lists.

    Empty cells are missing. Whole numbers have no decimals (3.0 is ``3`` in a column of numbers), dates are ISO 8601.
    In columns of a text file, the apostrophe that :func:`drgst.files.inert_cell` writes is removed.
    """
    if pa.types.is_null(column.type):
        return empty_cells(len(column))
    try:
        return _read(column, from_text_file)
    except pa.ArrowNotImplementedError:
        return None
    except (pa.ArrowException, UnicodeError, OverflowError) as error:
        raise CellError(f"a cell can't be read: {' '.join(str(error).split())[:200]}", _bad_row(column)) from error


def empty_cells(rows: int) -> Cells:
    """N missing cells."""
    return Cells(pa.array([], pa.string()), np.full(rows, -1, dtype=np.int64))


def _read(column: Any, from_text_file: bool) -> Cells | None:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(kind) or "binary" in str(kind):
        return None
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # no chunk, or several that could not be combined
        encoded = pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], encoded.type)
    encoded.validate(full=True)  # codes of a damaged file lead outside
    raw = encoded.dictionary
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        raw = raw.cast(pa.timestamp("us", kind.tz), safe=False)
    if raw.nbytes > MOST_TEXT:
        raise CellError(f"its distinct texts take {raw.nbytes >> 20:,} MB; {MOST_TEXT >> 20:,} MB are allowed")
    raw = raw.cast(pa.string())
    raw.validate(full=True)  # text that is not UTF-8 is refused here
    texts = pc.utf8_trim_whitespace(raw)
    if from_text_file:
        texts = pc.utf8_trim_whitespace(pc.replace_substring_regex(texts, _APOSTROPHE, r"\1"))
    distinct = texts.dictionary_encode()  # texts that differ in blanks only are now one
    inner, outer = (codes.fill_null(-1).to_numpy(zero_copy_only=False) for codes in (distinct.indices, encoded.indices))
    cells = Cells(distinct.dictionary, np.append(inner, -1)[outer].astype(np.int64))
    cells = cells._without(pa.array(cells.counts == 0))  # categories that no row has
    zero = pc.match_substring(cells.values, "\0").to_numpy(zero_copy_only=False)
    if zero.any():
        raise CellError("the cell holds a zero byte", cells.first_row(zero))
    return cells._without(pc.equal(cells.values, ""))


def _bad_row(column: Any) -> int | None:
    """The first row that can't be read, found by halving; None if every row is affected."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _read(column.slice(low, middle - low), False)
            low = middle
        except (ValueError, OverflowError):
            high = middle
    return low if low else None
