"""The cells of one column as distinct texts, and their values as numbers, booleans and dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MISSING = ("", "na", "n/a", "#n/a", "nan", "nat", "null", "nil", "none", "<na>", "-", "--", "?")  # in any case
TRUE, FALSE = ("true", "yes", "y", "t", "1"), ("false", "no", "n", "f", "0")
Style = Literal["plain", "thousands", "decimal comma"]
ISO = "ISO 8601"
DATE_FORMATS = (  # an ambiguous column is read in the first format that fits
    ISO,
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d %b %Y", "%b %d, %Y", "%d %B %Y"),
    *("%B %d, %Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y"),
)
_TIMES = ("", " %H:%M:%S", " %H:%M", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_SIGNS = "$€£¥% \u00a0\u202f"  # units and blanks around and within numbers
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$"
_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$"
_DECIMAL_COMMA = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+$"
_EPOCH, _EPOCH_UTC = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)
_SAMPLE = 300  # texts by which the format of dates is found
_DAY = timedelta(days=1)


@dataclass(frozen=True, eq=False)
class Cells:
    """N cells: V distinct texts and, per row, the index of its text, -1 if it is missing."""

    values: Any  # pyarrow.StringArray, (V,)
    codes: np.ndarray  # (N,) int64

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

    def spread(self, per_value: np.ndarray, missing: Any) -> np.ndarray:
        """One entry per distinct text as one entry per row, (N,)."""
        return np.append(per_value, missing)[self.codes]  # code -1 is the last

    def first_row(self, chosen: np.ndarray) -> int:
        """The first row whose text is among the chosen, given a mask of the texts, (V,)."""
        return int(np.flatnonzero(self.spread(chosen, False))[0])

    def share(self, chosen: np.ndarray) -> float:
        """The share of the cells with a text whose text is among the chosen."""
        return float(self.counts[chosen].sum() / max(self.counts.sum(), 1))


def read_cells(column: Any, missing: bool = True) -> Cells | None:
    """The cells of an Arrow column as text without surrounding blanks; None for lists and other nested types.

    Whole numbers have no decimals (3.0 is ``3`` in a column of numbers), dates are ISO 8601. With ``missing`` the words
    of :data:`MISSING` count as missing, else only empty cells do.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return None
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    if pa.types.is_null(kind):
        return Cells(pa.array([], pa.string()), np.full(len(column), -1, dtype=np.int64))
    texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
    encoded = (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    values = encoded.dictionary.cast(pa.string())
    words = pa.array(MISSING if missing else ("",), pa.string())
    gone = pc.is_in(pc.utf8_lower(values), value_set=words).to_numpy(zero_copy_only=False)
    index = np.append(np.where(gone, -1, np.cumsum(~gone) - 1), -1)
    codes = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return Cells(values.filter(pa.array(~gone)), index[codes].astype(np.int64))


def empty_cells(rows: int) -> Cells:
    """N missing cells."""
    return Cells(pa.array([], pa.string()), np.full(rows, -1, dtype=np.int64))


def numbers(values: Any, style: Style = "plain") -> np.ndarray:
    """The texts as float64, (V,); NaN where a text is no finite number.

    ``1,234.5`` is a number of the style thousands, ``1.234,5`` one of the style decimal comma. Currency signs, percent
    signs and blanks are ignored.
    """
    texts = pc.utf8_trim(values, characters=_SIGNS)
    for sign in " \u00a0\u202f":
        texts = pc.replace_substring(texts, sign, "")
    if style == "thousands":
        texts = pc.if_else(pc.match_substring_regex(texts, _THOUSANDS), pc.replace_substring(texts, ",", ""), texts)
    elif style == "decimal comma":
        plain = pc.replace_substring(pc.replace_substring(texts, ".", ""), ",", ".")
        texts = pc.if_else(pc.match_substring_regex(texts, _DECIMAL_COMMA), plain, texts)
    fits = pc.match_substring_regex(texts, _NUMBER).to_numpy(zero_copy_only=False)
    found = np.full(len(values), np.nan)
    found[fits] = [float(text) for text in texts.filter(pa.array(fits)).to_pylist()]
    found[np.isinf(found)] = np.nan
    return found


def number_style(values: Any) -> Style:
    """How the numbers of a column are written, by the texts with a comma."""
    with_comma = values.filter(pc.match_substring(values, ","))
    if not len(with_comma):
        return "plain"
    trimmed = pc.utf8_trim(with_comma, characters=_SIGNS)
    share = {
        "thousands": pc.match_substring_regex(trimmed, _THOUSANDS).true_count,
        "decimal comma": pc.match_substring_regex(trimmed, _DECIMAL_COMMA).true_count,
    }
    return "thousands" if share["thousands"] >= share["decimal comma"] else "decimal comma"


def booleans(values: Any) -> np.ndarray:
    """The texts as 1.0 for yes, true, y, t and 1, 0.0 for their opposites, NaN for others, (V,)."""
    table = dict.fromkeys(TRUE, 1.0) | dict.fromkeys(FALSE, 0.0)
    return np.array([table.get(text.lower(), np.nan) for text in values.to_pylist()], dtype=np.float64)


def dates(values: Any, form: str) -> np.ndarray:
    """The texts as days since 1970 (UTC), (V,); NaN where a text is no date in the format ``form``."""
    read = datetime.fromisoformat if form == ISO else lambda text: datetime.strptime(text, form)
    found = np.full(len(values), np.nan)
    for k, text in enumerate(values.to_pylist()):
        try:
            moment = read(text)
        except (ValueError, OverflowError):
            continue
        start = _EPOCH if moment.tzinfo is None else _EPOCH_UTC
        found[k] = (moment - start) / _DAY
    return found


def date_formats(values: Any, least: float) -> list[str]:
    """The formats in which at least the share ``least`` of a sample of the texts are dates, best first."""
    sample = values.take(np.unique(np.linspace(0, len(values) - 1, _SAMPLE, dtype=np.int64))) if len(values) else values
    forms = (form if form == ISO else form + time for form in DATE_FORMATS for time in _TIMES)
    shares: dict[str, float] = {}
    for form in dict.fromkeys(forms):
        shares[form] = float(np.isfinite(dates(sample, form)).mean()) if len(sample) else 0.0
        if form == ISO and shares[form] >= least:
            return [ISO]
    return sorted((form for form in shares if shares[form] >= max(least, 1e-9)), key=lambda form: -shares[form])
