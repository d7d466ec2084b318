"""Features that can be read: words as they are, measurements as ranks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features, Graph

SCALE_RATIO = 30  # times a quiet column's size: a column that loud is in a unit of its own


def rank_normalised(graph: Graph) -> Graph:
    """The graph with features whose cosines mean something.

    Words stay as they are. Where features are measurements (:func:`is_numeric`), amounts beside ages beside counts,
    their :func:`scores` take their place: the largest unit and the longest tail would drown the rest.
    """
    return graph.with_(features=scores(graph.features)) if is_numeric(graph.features) else graph


def remark(graph: Graph) -> str:
    """How features are read, in a sentence; empty where they are words."""
    if not graph.num_features:
        return "There are no features."
    if not shared(graph):
        return "No feature is shared by some nodes and not by others, so they are not read."
    return "Features are numbers rather than words, so their ranks are read." if is_numeric(graph.features) else ""


def shared(graph: Graph) -> bool:
    """Whether any feature is found at two nodes and not the same at all; one-hot names of the nodes are not."""
    x = graph.features
    present = _sizes(x)[0]
    everywhere = np.flatnonzero(present == x.shape[0])
    dense = x[:, everywhere] if isinstance(x, np.ndarray) else sp.csc_array(x)[:, everywhere].toarray()
    varied = np.ptp(dense, axis=0) > 0 if everywhere.size else np.zeros(0, dtype=bool)
    return bool(varied.any() or ((present > 1) & (present < x.shape[0])).any())


def is_numeric(x: Features) -> bool:
    """Whether columns hold quantities rather than words, (N, F).

    They do where a value is negative, or where half of Σ x² is in columns that most nodes have, or whose non-zero
    entries are 30 times as large as those of the quietest quarter. Zeros and ones are words however frequent.
    """
    present, squares = _sizes(x)
    used = present > 0
    values = x if isinstance(x, np.ndarray) else x.data
    if values.min(initial=0) < 0:
        return True
    if ((values == 0) | (values == values.max(initial=0))).all():
        return False
    size = np.sqrt(squares[used] / present[used])
    loud = (2 * present[used] > x.shape[0]) | (size > SCALE_RATIO * np.quantile(size, 0.25, method="lower"))
    return bool(2 * squares[used][loud].sum() > squares.sum())


def scores(x: Features) -> Features:
    """σ_j Φ^-1((r_ij - ½) / N) of the ranks r_ij in every column that most nodes have, (N, F).

    In the other columns zeros stay zeros, and the rank of |x_ij| among the n_j values that are not becomes
    ± σ_j ((r_ij - ½) / n_j + ½). σ_j is a column's standard deviation, of such a column the root mean square of what
    is not zero, if all are of one unit, the largest within 30 times the smallest; else 1. Equal values share their
    mean rank, so that a column of zeros and ones that half of the nodes have or fewer is left as it is. Of a sparse x
    the full columns come first.
    """
    if isinstance(x, np.ndarray):
        rows = [_held(column) for column in x.T]
        columns = [x[held, j] for j, held in enumerate(rows)]
        out = np.zeros(x.shape, dtype=np.float32)
        for j, values in enumerate(_scored(columns, x.shape[0])):
            out[rows[j], j] = values
        return out
    order = sp.csc_array(x)
    order.eliminate_zeros()
    parts = [order.data[a:b] for a, b in pairwise(order.indptr)]
    full = np.array([2 * part.size > x.shape[0] for part in parts])
    dense = order[:, np.flatnonzero(full)].toarray()
    sparse = sp.csc_array(order[:, np.flatnonzero(~full)], dtype=np.float32)
    columns = [*dense.T, *(sparse.data[a:b] for a, b in pairwise(sparse.indptr))]
    found = _scored(columns, x.shape[0])
    sparse.data = np.concatenate([np.zeros(0), *found[dense.shape[1] :]]).astype(np.float32)
    first = np.array(found[: dense.shape[1]], dtype=np.float32).reshape(-1, x.shape[0]).T
    return sp.csr_array(sp.hstack([sp.csc_array(first), sparse]))


def _held(column: np.ndarray) -> np.ndarray:
    """Which rows of a column are ranked, (N,): all where most are not zero, else what is not."""
    there = column != 0
    return np.ones_like(there) if 2 * there.sum() > column.size else there


def _scored(columns: list[np.ndarray], nodes: int) -> list[np.ndarray]:
    """The scores of what is held of each column; one that holds every node is a full one."""
    size = np.array([_size(values, values.size == nodes) for values in columns])
    alike = size.max(initial=0) <= SCALE_RATIO * size[size > 0].min(initial=np.inf)
    units = size if alike else np.ones_like(size)
    return [unit * _score(values, values.size == nodes) for values, unit in zip(columns, units, strict=True)]


def _size(values: np.ndarray, full: bool) -> float:
    """σ_j; 0 of a full column that never changes."""
    if not values.size or (full and values.min() == values.max()):
        return 0.0
    wide = values.astype(np.float64)
    return float(wide.std() if full else np.sqrt((wide * wide).mean()))


def _score(values: np.ndarray, full: bool) -> np.ndarray:
    """Φ^-1((r - ½) / n), or ± ((r - ½) / n + ½)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    ranks = (rankdata(values if full else np.abs(values)) - 0.5) / max(values.size, 1)
    return np.asarray(ndtri(ranks) if full else np.sign(values) * (ranks + 0.5))


def _sizes(x: Features) -> tuple[np.ndarray, np.ndarray]:
    """Of each column: how many nodes have it, and Σ x², (F,)."""
    if isinstance(x, np.ndarray):
        return np.count_nonzero(x, axis=0), np.einsum("ij,ij->j", x, x, dtype=np.float64)
    counts = np.bincount(x.indices[x.data != 0], minlength=x.shape[1])
    return counts, np.bincount(x.indices, x.data.astype(np.float64) ** 2, x.shape[1])
