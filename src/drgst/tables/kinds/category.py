"""Columns of names that repeat."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pyarrow.compute as pc
import scipy.sparse as sp
from pydantic import Field

from drgst.tables.cells import Cells
from drgst.tables.kinds.base import LONGEST_TEXT, Column, Detected, Text, least_rows

MOST_CATEGORIES = 40  # categories with a feature of their own
COVERED = 0.6  # share of the cells that those must cover where there are more distinct texts
ID_SHARE = 0.95  # of the texts that are distinct in a column of ids
ID_ROWS = 20  # rows from which such a column counts as ids
WORDS = 3.0  # mean number of words from which texts are free text rather than names


class CategoryColumn(Column):
    """One-hot features of the frequent categories, and one for all others if there were any."""

    wanted = "a known category"

    kind: Literal["category"] = "category"
    categories: tuple[Text, ...] = Field(max_length=MOST_CATEGORIES)
    other: bool

    @classmethod
    def detect(cls, name: str, cells: Cells) -> Detected | None:
        """There are at most 40 distinct texts, or 40 that cover most cells; texts that all differ are ids."""
        counts, filled = cells.counts, int(cells.counts.sum())
        words = float(np.dot(pc.count_substring_regex(cells.values, r"\w+").to_numpy(), counts) / filled)
        if words < WORDS and filled >= ID_ROWS and len(counts) >= ID_SHARE * filled:
            return Detected("its texts are all different, like ids")
        frequent = np.sort(counts)[::-1][:MOST_CATEGORIES].sum()
        few = len(counts) <= MOST_CATEGORIES
        return Detected() if few or (words < WORDS and frequent >= COVERED * filled) else None

    @classmethod
    def fit(cls, column: str, cells: Cells) -> CategoryColumn:
        least = least_rows(cells.rows)
        order = np.lexsort((np.array(cells.texts, dtype=str), -cells.counts))
        frequent = (int(k) for k in order[:MOST_CATEGORIES] if cells.counts[k] >= least)
        kept = [k for k in frequent if len(cells.texts[k]) <= LONGEST_TEXT]
        other = len(kept) < len(cells.values)
        names = tuple(cells.texts[k] for k in kept)
        return cls(column=column, flag=bool(cells.missing.any()), categories=names, other=other)

    @property
    def useless(self) -> bool:
        return not self.categories and not self.flag

    def names(self) -> list[str]:
        return [f"{self.column} = {name}" for name in self.categories] + ([f"{self.column} = other"] * self.other)

    def block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        index = {name: k for k, name in enumerate(self.categories)}
        width = len(self.categories) + self.other
        other = width - 1 if self.other else -1
        place = np.array([index.get(text, other) for text in cells.texts], dtype=np.int64)
        column = cells.spread(place, -1)
        rows = np.flatnonzero(column >= 0)
        block = sp.csr_array((np.ones(rows.size, np.float32), (rows, column[rows])), shape=(cells.rows, width))
        unknown = np.array([text not in index for text in cells.texts], dtype=bool)
        return block, cells.missing, [] if self.other else self.unread(cells, unknown)

    def show(self, x: np.ndarray, usual: np.ndarray) -> str:
        k = int(x.argmax())
        names = [*self.categories, "other"]
        return f"{names[k]} ({usual[k]:.0%} of the class)" if x[k] > 0 else "another"
