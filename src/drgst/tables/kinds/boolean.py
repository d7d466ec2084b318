"""Columns of yes and no."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from drgst.tables.cells import Cells
from drgst.tables.kinds.base import Column, Detected, dense

_VALUES = dict.fromkeys(("true", "yes", "y", "t", "1"), 1.0) | dict.fromkeys(("false", "no", "n", "f", "0"), 0.0)


class BooleanColumn(Column):
    """1 for yes, 0 for no; the more frequent one replaces missing cells."""

    wanted = "yes or no"

    kind: Literal["boolean"] = "boolean"
    fill: Literal[0, 1]

    @classmethod
    def detect(cls, name: str, cells: Cells) -> Detected | None:
        """All cells are yes, true, y, t, 1 or their opposites."""
        small = len(cells.values) <= len(_VALUES) * 4  # texts in upper and lower case
        return Detected() if small and not cls.bad(cells).any() else None

    @classmethod
    def fit(cls, column: str, cells: Cells) -> BooleanColumn:
        x = cells.spread(booleans(cells), np.nan)
        known = x[np.isfinite(x)]
        return cls(column=column, flag=known.size < x.size, fill=1 if known.size and known.mean() > 0.5 else 0)

    @classmethod
    def bad(cls, cells: Cells, name: str = "") -> np.ndarray:
        return np.isnan(booleans(cells))

    def names(self) -> list[str]:
        return [self.column]

    def block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        x = cells.spread(booleans(cells), np.nan)
        missing = np.isnan(x)
        return dense(np.where(missing, self.fill, x)), missing, self.unread(cells, self.bad(cells))

    def show(self, x: np.ndarray, usual: np.ndarray) -> str:
        return f"{'yes' if x[0] > 0.5 else 'no'} ({usual[0]:.0%} yes in the class)"


def booleans(cells: Cells) -> np.ndarray:
    """The distinct texts as 1.0 for yes, true, y, t and 1, 0.0 for their opposites, NaN for others, (V,)."""
    found = cells.parsed("boolean", lambda _: [_VALUES.get(text.lower(), np.nan) for text in cells.texts])
    return np.array(found, dtype=np.float64)
