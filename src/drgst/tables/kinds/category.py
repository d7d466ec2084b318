"""Columns of names that repeat."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import pyarrow.compute as pc
import scipy.sparse as sp
from pydantic import Field

from drgst.tables.cells import Cells
from drgst.tables.kinds.base import LONGEST_TEXT, Column, Detected, Text, least_rows
from drgst.tables.kinds.number import Scores

MOST_CATEGORIES = 40  # categories with a feature of their own
MOST_COUNTS = 1 << 14  # categories whose number of rows is kept
ID_SHARE = 0.95  # of the texts that are distinct in a column of ids
ID_ROWS = 20  # rows from which such a column counts as ids
WORDS = 3.0  # mean number of words from which texts are free text rather than names


class CategoryColumn(Column):
    """One-hot features of the frequent categories, and one for all others if there were any.

    Of more than 40 categories, the normal score of the number of rows n_c of a cell's category c is a feature, too
    (experiment 043). A category that was not fitted has n_c = 1.
    """

    wanted = "a known category"

    kind: Literal["category"] = "category"
    categories: tuple[Text, ...] = Field(max_length=MOST_CATEGORIES)
    other: bool
    rows: dict[Text, Annotated[int, Field(ge=2)]] = Field(default={}, max_length=MOST_COUNTS)  # n_c above 1
    scale: Scores | None = None  # of n_c; None for up to 40 categories

    @classmethod
    def detect(cls, name: str, cells: Cells) -> Detected | None:
        """There are at most 40 distinct texts, or they are names of a few words; texts that all differ are ids."""
        counts, filled = cells.counts, int(cells.counts.sum())
        words = float(np.dot(pc.count_substring_regex(cells.values, r"\w+").to_numpy(), counts) / filled)
        if words < WORDS and filled >= ID_ROWS and len(counts) >= ID_SHARE * filled:
            return Detected("its texts are all different, like ids")
        return Detected() if len(counts) <= MOST_CATEGORIES or words < WORDS else None

    @classmethod
    def fit(cls, column: str, cells: Cells) -> CategoryColumn:
        least = least_rows(cells.rows)
        order = np.lexsort((np.array(cells.texts, dtype=str), -cells.counts))
        frequent = (int(k) for k in order[:MOST_CATEGORIES] if cells.counts[k] >= least)
        kept = [k for k in frequent if len(cells.texts[k]) <= LONGEST_TEXT]
        other = len(kept) < len(cells.values)
        names = tuple(cells.texts[k] for k in kept)
        made = cls(column=column, flag=bool(cells.missing.any()), categories=names, other=other)
        if len(cells.values) <= MOST_CATEGORIES:
            return made
        short = [k for k in order[:MOST_COUNTS].tolist() if cells.counts[k] > 1 and len(cells.texts[k]) <= LONGEST_TEXT]
        made = made.model_copy(update={"rows": {cells.texts[k]: int(cells.counts[k]) for k in short}})
        return made.model_copy(update={"scale": Scores.fit(made._counts(cells))})

    @property
    def useless(self) -> bool:
        return not self.categories and not self.flag and not self.rows

    def names(self) -> list[str]:
        one_hot = [f"{self.column} = {name}" for name in self.categories] + [f"{self.column} = other"] * self.other
        return one_hot + [f"{self.column}: rows"] * (self.scale is not None)

    def _counts(self, cells: Cells) -> np.ndarray:
        """n_c of the category of each cell, (N,), NaN where it is missing."""
        return cells.spread(np.array([float(self.rows.get(text, 1)) for text in cells.texts]), np.nan)

    def block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        index = {name: k for k, name in enumerate(self.categories)}
        width = len(self.categories) + self.other
        other = width - 1 if self.other else -1
        place = np.array([index.get(text, other) for text in cells.texts], dtype=np.int64)
        column = cells.spread(place, -1)
        rows = np.flatnonzero(column >= 0)
        block = sp.csr_array((np.ones(rows.size, np.float32), (rows, column[rows])), shape=(cells.rows, width))
        if self.scale is not None:
            scores = self.scale.transform(self._counts(cells)).astype(np.float32)
            block = sp.csr_array(sp.hstack([block, scores[:, None]]))
        unknown = np.array([text not in index for text in cells.texts], dtype=bool)
        return block, cells.missing, [] if self.other else self.unread(cells, unknown)

    def show(self, x: np.ndarray, usual: np.ndarray) -> str:
        names = [*self.categories, *(["other"] if self.other else [])]
        k = int(x[: len(names)].argmax())
        return f"{names[k]} ({usual[k]:.0%} of the class)" if x[k] > 0 else "another"
