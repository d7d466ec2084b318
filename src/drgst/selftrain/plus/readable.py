"""Features that can be read: words as they are, measurements as ranks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features, Graph

LOUD = 30  # times the typical column's size: a column that loud is in a unit of its own


def readable(graph: Graph) -> Graph:
    """The graph with features whose cosines mean something.

    Words stay as they are. Where features are measurements (:func:`measured`), amounts beside ages beside counts,
    their :func:`scores` take their place: the largest unit and the longest tail would drown the rest.
    """
    return graph.with_(features=scores(graph.features)) if measured(graph.features) else graph


def remark(graph: Graph) -> str:
    """How features are read, in a sentence; empty where they are words."""
    if not graph.num_features:
        return "There are no features."
    if not shared(graph):
        return "No two nodes share a feature, so they are not read."
    return "Features are measurements, so their ranks are read." if measured(graph.features) else ""


def shared(graph: Graph) -> bool:
    """Whether any feature is found at two nodes; one-hot names of the nodes are not."""
    return bool(graph.num_features) and bool(_sizes(graph.features)[0].max() > 1)


def measured(x: Features) -> bool:
    """Whether columns hold quantities rather than words, (N, F).

    They do where a value is negative, or where half of Σ x² is in columns that most nodes have, or whose non-zero
    entries are 30 times as large as those of most columns. Zeros and ones are words however frequent.
    """
    present, squares = _sizes(x)
    used = present > 0
    values = x[x != 0] if isinstance(x, np.ndarray) else x.data[x.data != 0]
    if not values.size or values.min() == values.max():
        return False
    if values.min() < 0:
        return True
    size = np.sqrt(squares[used] / present[used])
    loud = (2 * present[used] > x.shape[0]) | (size > LOUD * np.quantile(size, 0.25, method="lower"))
    return bool(2 * squares[used][loud].sum() > squares.sum())


def scores(x: Features) -> Features:
    """σ_j Φ^-1((r_ij - ½) / N) of the ranks r_ij in every column that most nodes have or that has a negative, (N, F).

    In the other columns zeros stay zeros, and the rank among the n_j values that are not becomes
    σ_j ((r_ij - ½) / n_j + ½). σ_j is a column's standard deviation, of such a column the root mean square of what is
    not zero, if all are of one unit, the largest within 30 times the smallest; else 1. Equal values share their mean
    rank, so that a column of zeros and ones is left as it is. Full columns come first.
    """
    from scipy.special import ndtri

    columns = sp.csc_array(x)
    columns.eliminate_zeros()
    full = np.array([_is_full(columns, j) for j in range(columns.shape[1])])
    dense = np.asarray(columns[:, np.flatnonzero(full)].toarray(), dtype=np.float64)
    sparse = sp.csc_array(columns[:, np.flatnonzero(~full)], dtype=np.float32)
    size = np.concatenate([dense.std(axis=0), [_root_mean_square(part) for part in _parts(sparse)]])
    unit = size if size.max() <= LOUD * size[size > 0].min(initial=np.inf) else np.ones_like(size)
    for j in range(dense.shape[1]):
        dense[:, j] = unit[j] * ndtri(_ranked(dense[:, j]))
    for part, scale in zip(_parts(sparse), unit[dense.shape[1] :], strict=True):
        part[:] = scale * (_ranked(part) + 0.5)
    both = sp.csr_array(sp.hstack([sp.csc_array(dense.astype(np.float32)), sparse]))
    return np.asarray(both.toarray()) if isinstance(x, np.ndarray) else both


def _is_full(columns: sp.csc_array, j: int) -> bool:
    values = columns.data[columns.indptr[j] : columns.indptr[j + 1]]
    return bool(2 * values.size > columns.shape[0] or values.min(initial=0) < 0)


def _parts(columns: sp.csc_array) -> list[np.ndarray]:
    """The non-zero values of each column, as views that can be written to."""
    return [columns.data[a:b] for a, b in pairwise(columns.indptr)]


def _root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64)))) if values.size else 0.0


def _ranked(values: np.ndarray) -> np.ndarray:
    """(r - ½) / n, between 0 and 1."""
    from scipy.stats import rankdata

    return np.asarray((rankdata(values) - 0.5) / max(values.size, 1))


def _sizes(x: Features) -> tuple[np.ndarray, np.ndarray]:
    """Of each column: how many nodes have it, and Σ x², (F,)."""
    if isinstance(x, np.ndarray):
        return np.count_nonzero(x, axis=0), np.einsum("ij,ij->j", x, x, dtype=np.float64)
    counts = np.bincount(x.indices[x.data != 0], minlength=x.shape[1])
    return counts, np.bincount(x.indices, x.data.astype(np.float64) ** 2, x.shape[1])
