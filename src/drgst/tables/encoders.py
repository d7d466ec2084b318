r"""One encoder per column type: cells to columns of numbers, with a state that is plain JSON.

A number x becomes its normal score z = Φ^-1(F(x)), where F is the empirical distribution function of the fitted column
(ties get their mean rank), interpolated linearly between at most 200 knots. All columns then have one scale, whatever
their unit, and outliers are bounded. The score of the median stands in for missing numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import BaseModel, ConfigDict, Field, model_validator

from drgst.tables.cells import ISO, Cells, Style, booleans, date_formats, dates, number_style, numbers
from drgst.tables.faults import counted, some
from drgst.tables.infer import MOST_CATEGORIES, Kind
from drgst.tables.source import LONGEST_NAME

KNOTS = 200  # of the distribution function of a column of numbers
MOST_WORDS = 128  # words of a text column with a column of their own
LONGEST_TEXT = 1 << 12  # characters of a category or word with a column of its own
LEAST_ROWS = 10  # rows that a category or word needs for a column of its own; fewer in tables below 1,000 rows
Cycle = Literal["week", "year", "day"]
_WORD = re.compile(r"\w+")
_PERIODS: dict[Cycle, float] = {"week": 7.0, "year": 365.2425, "day": 1.0}  # in days

Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Encoder(BaseModel):
    """Cells of one column, (N,), to features, (N, K)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    column: Name
    flag: bool = False  # whether missing cells have a column of their own

    def features(self) -> list[str]:
        """The names of the features, (K,)."""
        return [*self._names(), *([f"{self.column} is missing"] if self.flag else [])]

    def encode(self, cells: Cells) -> tuple[Any, list[str]]:
        """The features, (N, K) float32, dense or sparse, and one sentence for each thing that was not as in fitting."""
        block, missing, notes = self._block(cells)
        if self.flag:
            mark = missing.astype(np.float32)[:, None]
            block = sp.hstack([block, mark]) if sp.issparse(block) else np.hstack([block, mark])
        return block, notes

    def summary(self) -> str:
        """What became of the column, in a few words."""
        count = len(self.features())
        return f"{counted(count, 'feature')}{', one of them for missing cells' if self.flag else ''}"

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        """Features without the missing flag, the missing cells and the notes."""
        raise NotImplementedError


class Scores(BaseModel):
    """z(x) = Φ^-1(F(x)) as knots (x_k, z_k), and the score that stands in for missing numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    knots: tuple[Finite, ...] = Field(min_length=1, max_length=KNOTS)
    scores: tuple[Finite, ...] = Field(min_length=1, max_length=KNOTS)
    fill: Finite

    @model_validator(mode="after")
    def _check(self) -> Scores:
        if len(self.knots) != len(self.scores):
            raise ValueError("knots and scores must have the same length")
        if (np.diff(self.knots) <= 0).any() or (np.diff(self.scores) < 0).any():
            raise ValueError("knots must increase, and scores must not decrease")
        return self

    @classmethod
    def fit(cls, x: np.ndarray) -> Scores:
        """The scores of the numbers in ``x``, (N,); NaN is missing."""
        from scipy.special import ndtri

        known = x[np.isfinite(x)]
        if not known.size:
            return cls(knots=(0.0,), scores=(0.0,), fill=0.0)
        values, counts = np.unique(known, return_counts=True)
        above = np.cumsum(counts)
        ranks = (above - counts / 2) / known.size
        if values.size > KNOTS:
            chosen = np.unique(np.searchsorted(above / known.size, np.linspace(0, 1, KNOTS)).clip(0, values.size - 1))
            values, ranks = values[chosen], ranks[chosen]
        scores = ndtri(ranks)
        fill = float(np.interp(np.median(known), values, scores))
        return cls(knots=tuple(values.tolist()), scores=tuple(scores.tolist()), fill=fill)

    def transform(self, x: np.ndarray) -> np.ndarray:
        """z(x), (N,); the fill where x is NaN."""
        return np.where(np.isfinite(x), np.interp(x, self.knots, self.scores), self.fill)


class NumberEncoder(_Encoder):
    """Normal scores of numbers."""

    kind: Literal["number"] = "number"
    style: Style = "plain"
    scale: Scores

    @classmethod
    def fit(cls, column: str, cells: Cells) -> NumberEncoder:
        """The encoder of a column of numbers."""
        style = number_style(cells.values)
        x = cells.spread(numbers(cells.values, style), np.nan)
        return cls(column=column, flag=bool(np.isnan(x).any()), style=style, scale=Scores.fit(x))

    def _names(self) -> list[str]:
        return [self.column]

    def _block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        found = numbers(cells.values, self.style)
        x = cells.spread(found, np.nan)
        return _dense(self.scale.transform(x)), np.isnan(x), _unread(self.column, cells, np.isnan(found), "a number")


class BooleanEncoder(_Encoder):
    """1 for yes, 0 for no; the more frequent one stands in for missing cells."""

    kind: Literal["boolean"] = "boolean"
    fill: Literal[0, 1]

    @classmethod
    def fit(cls, column: str, cells: Cells) -> BooleanEncoder:
        """The encoder of a column of booleans."""
        x = cells.spread(booleans(cells.values), np.nan)
        known = x[np.isfinite(x)]
        return cls(column=column, flag=known.size < x.size, fill=1 if known.size and known.mean() > 0.5 else 0)

    def _names(self) -> list[str]:
        return [self.column]

    def _block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        found = booleans(cells.values)
        x = cells.spread(found, np.nan)
        missing = np.isnan(x)
        return (
            _dense(np.where(missing, self.fill, x)),
            missing,
            _unread(self.column, cells, np.isnan(found), "yes or no"),
        )


class CategoryEncoder(_Encoder):
    """One-hot columns for the frequent categories, and one for all others if there were any."""

    kind: Literal["category"] = "category"
    categories: tuple[Text, ...] = Field(max_length=MOST_CATEGORIES)
    other: bool

    @classmethod
    def fit(cls, column: str, cells: Cells) -> CategoryEncoder:
        """The encoder of a column of categories."""
        least = least_rows(cells.rows)
        order = np.lexsort((np.array(cells.texts, dtype=str), -cells.counts))
        frequent = (int(k) for k in order[:MOST_CATEGORIES] if cells.counts[k] >= least)
        kept = [k for k in frequent if len(cells.texts[k]) <= LONGEST_TEXT]
        other = len(kept) < len(cells.values)
        names = tuple(cells.texts[k] for k in kept)
        return cls(column=column, flag=bool(cells.missing.any()), categories=names, other=other)

    def _names(self) -> list[str]:
        return [f"{self.column} = {name}" for name in self.categories] + ([f"{self.column} = other"] * self.other)

    def _block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        index = {name: k for k, name in enumerate(self.categories)}
        width = len(self._names())
        other = width - 1 if self.other else -1
        place = np.array([index.get(text, other) for text in cells.texts], dtype=np.int64)
        column = cells.spread(place, -1)
        rows = np.flatnonzero(column >= 0)
        block = sp.csr_array((np.ones(rows.size, np.float32), (rows, column[rows])), shape=(cells.rows, width))
        unknown = np.array([text not in index for text in cells.texts], dtype=bool)
        return block, cells.missing, [] if self.other else _unread(self.column, cells, unknown, "a known category")


class DateEncoder(_Encoder):
    """The normal score of the day, and sine and cosine of the time of week, year and day where it varies."""

    kind: Literal["date"] = "date"
    form: Text
    scale: Scores
    cycles: tuple[Cycle, ...] = Field(max_length=3)

    @classmethod
    def fit(cls, column: str, cells: Cells) -> DateEncoder:
        """The encoder of a column of dates."""
        form = (date_formats(cells.values, 0.5) or [ISO])[0]
        x = cells.spread(dates(cells.values, form), np.nan)
        known = x[np.isfinite(x)]
        span = np.ptp(known) if known.size else 0.0
        varies = {"week": span > 1, "year": span > 60, "day": bool((known % 1 != 0).any())}
        cycles = tuple(cycle for cycle in _PERIODS if varies[cycle])
        return cls(column=column, flag=bool(np.isnan(x).any()), form=form, scale=Scores.fit(x), cycles=cycles)

    def _names(self) -> list[str]:
        parts = [f"{self.column}: time of {cycle}, {wave}" for cycle in self.cycles for wave in ("sine", "cosine")]
        return [f"{self.column}: day", *parts]

    def _block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        found = dates(cells.values, self.form)
        x = cells.spread(found, np.nan)
        missing = np.isnan(x)
        columns = [self.scale.transform(x)]
        for cycle in self.cycles:
            turn = 2 * np.pi * np.where(missing, 0.0, x) / _PERIODS[cycle]
            columns += [np.where(missing, 0.0, np.sin(turn)), np.where(missing, 0.0, np.cos(turn))]
        notes = _unread(self.column, cells, np.isnan(found), f"a date ({self.form})")
        return np.column_stack(columns).astype(np.float32), missing, notes


class TextEncoder(_Encoder):
    r"""TF-IDF of the most frequent words with unit rows: tf_w · (1 + ln((1 + N) / (1 + df_w)))."""

    kind: Literal["text"] = "text"
    words: tuple[Text, ...] = Field(max_length=MOST_WORDS)
    idf: tuple[Finite, ...] = Field(max_length=MOST_WORDS)

    @model_validator(mode="after")
    def _check(self) -> TextEncoder:
        if len(self.words) != len(self.idf) or len(set(self.words)) != len(self.words):
            raise ValueError("words must differ and each needs its idf")
        return self

    @classmethod
    def fit(cls, column: str, cells: Cells) -> TextEncoder:
        """The encoder of a column of free text."""
        frequency: Counter[str] = Counter()
        for text, count in zip(cells.texts, cells.counts.tolist(), strict=True):
            for word in set(_WORD.findall(text.lower())):
                frequency[word] += count
        least = least_rows(cells.rows)
        ranked = sorted(frequency.items(), key=lambda item: (-item[1], item[0]))
        fitting = ((word, n) for word, n in ranked if least <= n < cells.rows and len(word) <= LONGEST_TEXT)
        kept = list(islice(fitting, MOST_WORDS))
        idf = tuple(float(1 + np.log((1 + cells.rows) / (1 + count))) for _, count in kept)
        flag = bool(cells.missing.any())
        return cls(column=column, flag=flag, words=tuple(word for word, _ in kept), idf=idf)

    def _names(self) -> list[str]:
        return [f"{self.column}: {word}" for word in self.words]

    def _block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        index = {word: k for k, word in enumerate(self.words)}
        found = [Counter(index[w] for w in _WORD.findall(t.lower()) if w in index) for t in cells.texts]
        ends = np.cumsum([0, *(len(row) for row in found), 0])  # the last row is that of missing cells
        places = np.array([k for row in found for k in row], dtype=np.int64)
        weights = np.array([n for row in found for n in row.values()], dtype=np.float64) * np.array(self.idf)[places]
        distinct = sp.csr_array((weights, places, ends), shape=(len(found) + 1, len(self.words)))
        norms = np.sqrt(np.asarray(distinct.multiply(distinct).sum(axis=1)))
        distinct = sp.diags_array(1 / np.where(norms > 0, norms, 1)) @ distinct
        return sp.csr_array(distinct.astype(np.float32))[cells.codes], cells.missing, []


Encoder = Annotated[
    NumberEncoder | BooleanEncoder | CategoryEncoder | DateEncoder | TextEncoder, Field(discriminator="kind")
]
ENCODERS: dict[Kind, Any] = {
    "number": NumberEncoder,
    "boolean": BooleanEncoder,
    "category": CategoryEncoder,
    "date": DateEncoder,
    "text": TextEncoder,
}


def least_rows(rows: int) -> int:
    """Rows that a category or word needs for a column of its own: 1 percent, at least 2 and at most 10."""
    return max(2, min(LEAST_ROWS, rows // 100))


def _dense(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32)[:, None]


def _unread(column: str, cells: Cells, bad: np.ndarray, wanted: str) -> list[str]:
    """A note on the texts that count as missing because they are not what the column holds."""
    if not bad.any():
        return []
    texts = [text for text, is_bad in zip(cells.texts, bad, strict=True) if is_bad]
    rows = int(cells.counts[bad].sum())
    return [f"column {column!r}: {counted(rows, 'cell')} not {wanted} ({some(texts)})"]
