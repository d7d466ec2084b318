"""A column called ``features``: the features of a node, which are used as they are."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from pydantic import Field

from drgst.tables.cells import Cells
from drgst.tables.kinds.base import Column, Detected

WIDEST = 2**31 - 1
SHOWN = 5  # features that are shown
Row = dict[int, float]


class FeaturesColumn(Column):
    """``3:1.0 17:0.5 20`` (index:value, ``:1`` may be omitted) as sparse rows; lists of equal length as dense rows.

    The column is called ``features``, or ``features:1433``, which also gives the number of features.
    """

    by_name = True
    sparse = True
    wanted = "index:value pairs such as 3:1.0 17:0.5, or a list of as many numbers as the others"

    kind: Literal["features"] = "features"
    width: Annotated[int, Field(ge=0, le=WIDEST)]

    @classmethod
    def detect(cls, name: str, cells: Cells) -> Detected | None:
        """By its name."""
        return Detected() if is_features_name(name) else None

    @classmethod
    def fit(cls, column: str, cells: Cells) -> FeaturesColumn:
        return cls(column=column, width=_width(column, cells))

    @classmethod
    def bad(cls, cells: Cells, name: str = "") -> np.ndarray:
        if _is_list(cells):
            return _lists(cells)[1]
        most = int(name.partition(":")[2] or WIDEST)
        return np.array([row is None or max(row, default=-1) >= most for row in _rows(cells)], dtype=bool)

    @property
    def prepared(self) -> bool:
        return False

    @property
    def num_features(self) -> int:
        return self.width

    @property
    def useless(self) -> bool:
        return False

    def names(self) -> list[str]:
        return [f"feature {k}" for k in range(self.width)]

    def block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        bad = self.bad(cells) if len(cells.values) else np.zeros(0, dtype=bool)
        if _is_list(cells):
            lists = _lists(cells)[0]
            bad = bad | (lists.shape[1] != self.width)
            x = np.zeros((len(bad) + 1, self.width), dtype=np.float32)  # the last row is that of missing cells
            x[:-1][~bad] = lists[~bad]
            return x[cells.codes], cells.missing, self.unread(cells, bad)
        rows = [{} if row is None else row for row in _rows(cells)]
        wide = np.array([max(row, default=-1) >= self.width for row in rows], dtype=bool)
        rows = [{k: v for k, v in row.items() if k < self.width} for row in rows]
        ends = np.cumsum([0, *(len(row) for row in rows), 0])
        places = np.array([k for row in rows for k in row], dtype=np.int64)
        values = as_float32(np.array([v for row in rows for v in row.values()], dtype=np.float64))
        distinct = sp.csr_array((values, places, ends), shape=(len(rows) + 1, self.width))
        return distinct[cells.codes], cells.missing, self.unread(cells, bad | wide)

    def show(self, x: np.ndarray, usual: np.ndarray) -> str:
        largest = np.argsort(-np.abs(x))[:SHOWN]
        return ", ".join(f"{k}: {x[k]:.4g}" for k in largest if x[k]) or "all 0"


def is_features_name(name: str) -> bool:
    """Whether a column is called ``features`` or ``features:N``."""
    head, colon, width = name.partition(":")
    return head == "features" and (not colon or (width.isascii() and width.isdigit() and int(width) <= WIDEST))


def list_cells(column: Any) -> Cells | None:
    """A column of lists of numbers as cells with one value per row; None for another type."""
    kind = column.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return None
    if not (pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type)):
        return None
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    values = pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values
    return Cells(values, np.arange(len(values)))


def as_float32(values: np.ndarray) -> np.ndarray:
    """The numbers as float32; one that is too large becomes infinite, which a graph refuses."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _is_list(cells: Cells) -> bool:
    return not pa.types.is_string(cells.values.type)


def _width(name: str, cells: Cells) -> int:
    if _is_list(cells):
        return int(_lists(cells)[0].shape[1])
    named = name.partition(":")[2]
    return int(named) if named else 1 + max((max(row, default=-1) for row in _rows(cells) if row), default=-1)


def _lists(cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """The lists, (V, L) float32, as long as the first; which of them are missing, not finite or of another length."""
    return cells.parsed("lists", _as_rows)


def _as_rows(lists: Any) -> tuple[np.ndarray, np.ndarray]:
    lengths = pc.list_value_length(lists).fill_null(-1).to_numpy(zero_copy_only=False)
    length = int(next(iter(lengths[lengths >= 0]), 0))
    alike = lengths == length
    x = np.full((len(lists), length), np.nan, dtype=np.float32)
    numbers = lists.filter(pa.array(alike)).flatten().cast(pa.float64(), safe=False)
    x[alike] = as_float32(numbers.to_numpy(zero_copy_only=False)).reshape(-1, length) if length else 0
    return x, ~(alike & np.isfinite(x).all(axis=1))


def _rows(cells: Cells) -> list[Row | None]:
    """The pairs of each distinct text; None where it is something else."""
    return cells.parsed("pairs", lambda _: [_pairs(text) for text in cells.texts])


def _pairs(text: str) -> Row | None:
    """``3:1.0 17:0.5 20`` as {3: 1.0, 17: 0.5, 20: 1.0}."""
    found: Row = {}
    for pair in text.split():
        index, colon, value = pair.partition(":")
        if not (index.isascii() and index.isdigit() and len(index) < 11 and int(index) < WIDEST):
            return None
        try:
            number = float(value) if colon else 1.0
        except ValueError:
            return None
        if int(index) in found or not abs(number) < 3.4e38:
            return None
        found[int(index)] = number
    return found
