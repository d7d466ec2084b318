"""What every kind of column can do."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from pydantic import BaseModel, ConfigDict, Field

from drgst.tables.cells import Cells
from drgst.tables.faults import LONGEST_NAME, counted, some

LONGEST_TEXT = 1 << 12  # characters of a category or word with a feature of its own
LEAST_ROWS = 10  # rows that a category or word needs for a feature of its own; fewer in tables below 1,000 rows
LEAST_SHARE = 0.95  # of the cells that must be numbers (dates) for a column of numbers (dates); the others are missing

Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Detected(NamedTuple):
    """A column is of a kind; ``dropped`` says why it gives no feature, ``note`` what a reader may want to overrule."""

    dropped: str = ""
    note: str = ""


class Strict(BaseModel):
    """A part of a schema: unknown fields and values of another type are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Column(Strict):
    """A fitted column of one kind: cells, (N,), to features, (N, K). Its fields are its state as plain JSON.

    A subclass has a field ``kind: Literal[...]`` with its name as default, and is listed in :data:`KINDS`.
    """

    sparse: ClassVar[bool] = False  # whether most features are 0, so that X should be sparse
    by_name: ClassVar[bool] = False  # whether the name of a column alone decides that it is of this kind
    wanted: ClassVar[str] = ""  # what a cell must be, with its article; empty if every text is of this kind

    kind: str
    column: Name
    flag: bool = False  # whether missing cells have a feature of their own

    @classmethod
    def detect(cls, name: str, cells: Cells) -> Detected | None:
        """Whether a column with some cells is of this kind; None if it is not."""
        raise NotImplementedError

    @classmethod
    def fit(cls, column: str, cells: Cells) -> Self:
        """The column with the state that its cells give."""
        raise NotImplementedError

    @classmethod
    def bad(cls, cells: Cells, name: str = "") -> np.ndarray:
        """Which distinct texts of a column called ``name`` are not of this kind, (V,)."""
        return np.zeros(len(cells.values), dtype=bool)

    def names(self) -> list[str]:
        """The names of the features without that of missing cells."""
        raise NotImplementedError

    def block(self, cells: Cells) -> tuple[Any, np.ndarray, list[str]]:
        """The features without that of missing cells, which cells are missing, (N,), and notes."""
        raise NotImplementedError

    def show(self, x: np.ndarray, usual: np.ndarray) -> str:
        """The cell that gave the features ``x``, and what is usual: the mean features of a class, (K,) both."""
        raise NotImplementedError

    @property
    def prepared(self) -> bool:
        """Whether the features have one scale with others, so that a model need not rank them."""
        return True

    @property
    def num_features(self) -> int:
        """K."""
        return len(self.features())

    @property
    def useless(self) -> bool:
        """Whether the column has the same value at all nodes."""
        return not self.num_features

    def features(self) -> list[str]:
        """The names of the features, (K,)."""
        return [*self.names(), *([f"{self.column} is missing"] if self.flag else [])]

    def encode(self, cells: Cells) -> tuple[Any, list[str]]:
        """The features, (N, K) float32, dense or sparse, and one sentence for each thing that was not as in fitting."""
        block, missing, notes = self.block(cells)
        if self.flag:
            mark = missing.astype(np.float32)[:, None]
            block = sp.hstack([block, mark]) if sp.issparse(block) else np.hstack([block, mark])
        return block, notes

    def describe(self) -> str:
        """What became of the column, in a few words."""
        return f"{counted(self.num_features, 'feature')}{', one of them for missing cells' if self.flag else ''}"

    def show_features(self, x: np.ndarray, usual: np.ndarray) -> str:
        """:meth:`show`, or that the cell is missing."""
        if self.flag and x[-1] > 0.5:
            return f"missing ({usual[-1]:.0%} of the class)"
        return self.show(x, usual)

    def unread(self, cells: Cells, bad: np.ndarray) -> list[str]:
        """A note on the texts, given a mask, that count as missing because they are not of this kind."""
        bad = bad & (cells.counts > 0)  # rows that are left out keep their texts
        if not bad.any():
            return []
        texts, rows = cells.chosen(bad)
        return [f"column {self.column!r}: {counted(rows, 'cell')} not {self.wanted} ({some(texts)})"]


def least_rows(rows: int) -> int:
    """Rows that a category or word needs for a feature of its own: 1 percent, at least 2 and at most 10."""
    return max(2, min(LEAST_ROWS, rows // 100))


def dense(x: np.ndarray) -> np.ndarray:
    """One feature, (N, 1) float32."""
    return x.astype(np.float32)[:, None]
