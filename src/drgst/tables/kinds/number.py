r"""Columns of numbers.

A number x becomes its normal score z = Φ^-1(F(x)), where F is the empirical distribution function of the fitted column
(ties get their mean rank), interpolated linearly between at most 512 knots. All columns then have one scale, whatever
their unit, and outliers are bounded. The score of the median replaces missing numbers.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from drgst.tables.cells import Cells
from drgst.tables.kinds.base import LEAST_SHARE, Column, Detected, Finite, Strict, dense
from drgst.transforms.rank_normalise import KNOTS, score_knots

Style = Literal["plain", "thousands", "decimal comma"]
ID_ROWS = 20  # rows from which a counter counts as ids
_SIGNS = "$€£¥% \u00a0\u202f"  # units and blanks around and within numbers
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$"
_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$"
_DECIMAL_COMMA = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+$"
_ID_NAME = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|key|no|nr|num|number|index|idx|row|iban|email|e-mail|phone)$"
    r"|[a-z]I[dD]$|^column \d+$"  # accountId; a column without name, as data frames write their row numbers
)


class Scores(Strict):
    """z(x) = Φ^-1(F(x)) as knots (x_k, z_k), and the score that replaces missing numbers."""

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
        known = x[np.isfinite(x)]
        if not known.size:
            return cls(knots=(0.0,), scores=(0.0,), fill=0.0)
        values, scores = score_knots(known)
        fill = float(np.interp(np.median(known), values, scores))
        return cls(knots=tuple(values.tolist()), scores=tuple(scores.tolist()), fill=fill)

    def transform(self, x: np.ndarray) -> np.ndarray:
        """z(x), (N,); the fill where x is NaN."""
        return np.where(np.isfinite(x), np.interp(x, self.knots, self.scores), self.fill)

    def inverse(self, z: float) -> float:
        """The number with the score z."""
        return float(np.interp(z, self.scores, self.knots))

    def show(self, x: np.ndarray, usual: np.ndarray) -> str:
        """The number with the score x_0, and the one with the mean score of a class."""
        return f"{self.inverse(x[0]):,.6g} (class average {self.inverse(usual[0]):,.4g})"


class NumberColumn(Column):
    """A column of numbers as normal scores; as they are if ``scale`` is None."""

    wanted = "a number"

    kind: Literal["number"] = "number"
    style: Style = "plain"
    scale: Scores | None = None

    @classmethod
    def detect(cls, name: str, cells: Cells) -> Detected | None:
        """At least 95 % of the cells are numbers, and none is a code such as ``00123``."""
        found = numbers(cells)
        if cells.share(np.isfinite(found)) < LEAST_SHARE or _codes(cells):
            return None
        distinct = np.isfinite(found).all() and (cells.counts == 1).all() and len(found) > 1
        if distinct and (found % 1 == 0).all():
            counter = found.min() in (0, 1) and np.ptp(found) == len(found) - 1 and len(found) >= ID_ROWS
            if is_id_name(name) or counter:
                return Detected("its whole numbers are all different, like ids")
        return Detected()

    @classmethod
    def fit(cls, column: str, cells: Cells) -> NumberColumn:
        x = cells.spread(numbers(cells), np.nan)
        scale = Scores.fit(x)
        return cls(column=column, flag=bool(np.isnan(x).any()), style=number_style(cells), scale=scale)

    @classmethod
    def bad(cls, cells: Cells, name: str = "") -> np.ndarray:
        return np.isnan(numbers(cells))

    @property
    def prepared(self) -> bool:
        return self.scale is not None

    def names(self) -> list[str]:
        return [self.column]

    def block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        found = numbers(cells, self.style)
        x = cells.spread(found, np.nan)
        z = np.nan_to_num(x) if self.scale is None else self.scale.transform(x)
        return dense(z), np.isnan(x), self.unread(cells, np.isnan(found))

    def show(self, x: np.ndarray, usual: np.ndarray) -> str:
        if self.scale is None:
            return f"{x[0]:,.6g} (class average {usual[0]:,.4g})"
        return self.scale.show(x, usual)


def numbers(cells: Cells, style: Style | None = None) -> np.ndarray:
    """The distinct texts as float64, (V,); NaN where a text is not a finite number.

    ``1,234.5`` is a number of the style thousands, ``1.234,5`` one of the style decimal comma; without ``style`` it is
    that of the column. Currency signs, percent signs and blanks are ignored.
    """
    chosen = style or number_style(cells)
    return cells.parsed(("number", chosen), lambda values: _parse(values, chosen))


def number_style(cells: Cells) -> Style:
    """How the numbers of a column are written: as most of its cells such as ``1,234.5`` and ``1.234,5``."""
    return cells.parsed("style", lambda _: _style(cells))


def _style(cells: Cells) -> Style:
    if not pc.any(pc.match_substring(cells.values, ",")).as_py():
        return "plain"
    trimmed = pc.utf8_trim(cells.values, characters=_SIGNS)
    found = (pc.match_substring_regex(trimmed, pattern) for pattern in (_THOUSANDS, _DECIMAL_COMMA))
    thousands, comma = (int(cells.counts[mask.to_numpy(zero_copy_only=False)].sum()) for mask in found)
    if not thousands and not comma:
        return "plain"
    return "thousands" if thousands >= comma else "decimal comma"


def is_id_name(name: str) -> bool:
    """Whether a column is called like an id: ``id``, ``account_id``, ``rowId``, ``phone number``."""
    return _ID_NAME.search(name) is not None or _ID_NAME.search(name.lower()) is not None


def _parse(values: Any, style: Style) -> np.ndarray:
    texts = pc.utf8_trim(values, characters=_SIGNS)
    texts = pc.replace_substring_regex(texts, "[ \u00a0\u202f]", "")
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


def _codes(cells: Cells) -> bool:
    """Whether numbers are codes with leading zeros, such as ``00123``."""
    return bool(pc.any(pc.match_substring_regex(cells.values, r"^0\d")).as_py())
