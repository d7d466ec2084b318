"""Rank normalisation of numeric features; counts and indicators of words stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features
from drgst.shards import ALONE, Shards

SCALE_RATIO = 30  # columns whose sizes differ by more are in different units
KNOTS = 512  # values of a column whose scores are kept; between them scores are interpolated


def describe_features(x: Features, prepared: bool = False, shards: Shards = ALONE) -> str:
    """How features are used, in one sentence; empty where they are used as they are, such as ``prepared`` ones.

    With several ``shards``, here and below, x has the rows of this process.
    """
    if not x.shape[1]:
        return "There are no features."
    if not informative(x, shards):
        return "Features are not used: none is shared by some nodes and not by others."
    return "Features are numeric, so they are rank-normalised." if not prepared and is_numeric(x, shards) else ""


def informative(x: Features, shards: Shards = ALONE) -> bool:
    """Whether any feature is present at two nodes or more and not the same at all; one-hot node names are not."""
    present, count = shards.sum(_column_sizes(x)[0]), int(shards.sum(np.array(x.shape[0])))
    everywhere = np.flatnonzero(present == count)
    dense = x[:, everywhere] if isinstance(x, np.ndarray) else sp.csc_array(x)[:, everywhere].toarray()
    varied = np.greater(*shards.extremes(dense)) if everywhere.size else np.zeros(0, dtype=bool)
    return bool(varied.any() or ((present > 1) & (present < count)).any())


def is_numeric(x: Features, shards: Shards = ALONE) -> bool:
    """Whether columns hold quantities rather than words, (N, F).

    They do where a value is negative, or where half of Σ x² is in columns that most nodes have, or whose non-zero
    entries are 30 times as large as those of the lowest quartile of columns. Zeros and ones are words however frequent.
    """
    present, squares = (shards.sum(total) for total in _column_sizes(x))
    used, count = present > 0, int(shards.sum(np.array(x.shape[0])))
    values = x if isinstance(x, np.ndarray) else x.data
    highest, lowest = shards.extremes(np.array([values.max(initial=0), values.min(initial=0)])[:, None])
    if lowest[0] < 0:
        return True
    if not shards.any(not ((values == 0) | (values == highest[0])).all()):
        return False
    size = np.sqrt(squares[used] / present[used])
    dominant = (2 * present[used] > count) | (size > SCALE_RATIO * np.quantile(size, 0.25, method="lower"))
    return bool(2 * squares[used][dominant].sum() > squares.sum())


def unscaled(x: Features) -> bool:
    """Whether numeric features (:func:`is_numeric`) are raw amounts: not in one unit, or from 0 to above 1.

    Columns whose sizes differ 30-fold are not in one unit; shares and indicators, from 0 to 1, are.
    """
    if not x.shape[1] or not is_numeric(x):
        return False
    values = x if isinstance(x, np.ndarray) else x.data
    present, squares = _column_sizes(x)
    size = np.sqrt(squares[present > 0] / present[present > 0])
    one_unit = size.max() <= SCALE_RATIO * np.quantile(size, 0.25, method="lower")
    return bool(not one_unit or (values.min(initial=0) >= 0 and values.max(initial=0) > 1))


def score_knots(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most 512 distinct values of ``x``, (N,), in ascending order, and their scores Φ^-1((r - ½) / N)."""
    return _knots(x, _scores(x, full=True))


def constant(x: Features) -> bool:
    """Whether no feature tells one node from another: there is none, or all are the same at all nodes."""
    return not informative(x) and int(_column_sizes(x)[0].max(initial=0)) != 1


@dataclass(frozen=True, eq=False)
class RankTable:
    """x_ij -> σ_j Φ^-1((r_ij - ½) / N), r_ij its rank among the fitted nodes, for columns that most nodes have, (N, F).

    In the other columns zeros stay zeros, and the rank of |x_ij| among the n_j non-zero values becomes
    ± σ_j ((r_ij - ½) / n_j + ½). σ_j is the standard deviation of a full column and the root mean square of the
    non-zero values of another, if all are in one unit (the largest within 30 times the smallest); else 1. Equal values
    share their mean rank, so that a column of zeros and ones that half of the nodes have or fewer is left as it is.
    Without ranks, the column of the largest unit would decide every cosine. Of each column up to 512 values and their
    scores are kept; scores of values between them are interpolated.
    """

    full: np.ndarray  # whether most nodes have the column, (F,)
    values: np.ndarray  # ascending, the last one repeated, (F, Q); of a column that is not full, of |x|
    scores: np.ndarray  # of these values, (F, Q)

    @classmethod
    def fit(cls, x: Features, shards: Shards = ALONE) -> RankTable:
        count = int(shards.sum(np.array(x.shape[0])))
        columns = (shards.all_rows(column, count) for column in _columns(x))
        rows_and_columns = ((_ranked_rows(column), column) for column in columns)
        ranked, everywhere = zip(*((c[rows], rows.all()) for rows, c in rows_and_columns), strict=True)
        full = np.array(everywhere, dtype=bool)
        each = _column_scores(list(ranked), count)
        pairs = [
            _knots(v if f else np.abs(v), s if f else np.abs(s)) for v, s, f in zip(ranked, each, full, strict=True)
        ]
        width = max((values.size for values, _ in pairs), default=1)
        tables = (np.stack([np.pad(p[side], (0, width - p[side].size), "edge") for p in pairs]) for side in (0, 1))
        return cls(full, *(table.astype(np.float32) for table in tables))

    def __call__(self, x: Features) -> np.ndarray:
        out = np.zeros(x.shape, dtype=np.float32)
        for j, column in enumerate(_columns(x)):
            size = column if self.full[j] else np.abs(column)
            scores = np.interp(size, self.values[j], self.scores[j])
            out[:, j] = scores if self.full[j] else np.sign(column) * scores
        return out


def _columns(x: Features) -> Iterator[np.ndarray]:
    """The columns of x, one dense array after the other."""
    if isinstance(x, np.ndarray):
        yield from x.T
        return
    order = sp.csc_array(x)
    for j in range(x.shape[1]):
        yield order[:, [j]].toarray()[:, 0]


def _knots(values: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most 512 distinct values in ascending order, and their scores."""
    if not values.size:
        return np.zeros(1), np.zeros(1)
    distinct, first = np.unique(values, return_index=True)
    kept = np.unique(np.linspace(0, distinct.size - 1, min(distinct.size, KNOTS)).round().astype(np.int64))
    return distinct[kept], scores[first][kept]


def _ranked_rows(column: np.ndarray) -> np.ndarray:
    """Which rows of a column are ranked, (N,): all where most are not zero, else the non-zero ones."""
    present = column != 0
    return np.ones_like(present) if 2 * present.sum() > column.size else present


def _column_scores(columns: list[np.ndarray], nodes: int) -> list[np.ndarray]:
    """The scores of the ranked values of each column; a column with a value of every node is a full one."""
    sizes = np.array([_size(values, values.size == nodes) for values in columns])
    one_unit = sizes.max(initial=0) <= SCALE_RATIO * sizes[sizes > 0].min(initial=np.inf)
    units = sizes if one_unit else np.ones_like(sizes)
    return [unit * _scores(values, values.size == nodes) for values, unit in zip(columns, units, strict=True)]


def _size(values: np.ndarray, full: bool) -> float:
    """σ_j; 0 of a full column that never changes."""
    if not values.size or (full and values.min() == values.max()):
        return 0.0
    wide = values.astype(np.float64)
    return float(wide.std() if full else np.sqrt((wide * wide).mean()))


def _scores(values: np.ndarray, full: bool) -> np.ndarray:
    """Φ^-1((r - ½) / n), or ± ((r - ½) / n + ½)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    ranks = (rankdata(values if full else np.abs(values)) - 0.5) / max(values.size, 1)
    return np.asarray(ndtri(ranks) if full else np.sign(values) * (ranks + 0.5))


def _column_sizes(x: Features) -> tuple[np.ndarray, np.ndarray]:
    """How many nodes have each column, and its Σ x², (F,) both."""
    if isinstance(x, np.ndarray):
        return np.count_nonzero(x, axis=0), np.einsum("ij,ij->j", x, x, dtype=np.float64)
    counts = np.bincount(x.indices[x.data != 0], minlength=x.shape[1])
    return counts, np.bincount(x.indices, x.data.astype(np.float64) ** 2, x.shape[1])
