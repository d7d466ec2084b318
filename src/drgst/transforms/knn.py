"""Nearest neighbours by cosine: exact, in pieces that fit a memory bound, or approximate for many nodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from drgst.errors import SettingError
from drgst.extras import import_extra
from drgst.graph.core import Features
from drgst.shards import ALONE, Shards
from drgst.transforms.approximate import Rows, approximate_neighbours
from drgst.transforms.features import FEATURES, row_l2

Piece: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns, scores

# One multiply-add of a sparse product costs about as much as this many of a dense one (measured: 4 ns, 0.03 ns).
SPARSE_COST = 130
EXACT_NODES = 30_000  # up to which neighbours are exact: N² products take half a minute
MEMORY = 256 * 2**20  # bytes of the working memory of exact neighbours
SPARSE_MEMORY = 16 * 2**20  # of sparse products, which are faster where they stay in the cache


def nearest_neighbours(
    features: Features | Rows, k: int, reduced: Callable[[], np.ndarray] | None = None, shards: Shards = ALONE
) -> sp.csr_array:
    """cos(x_u, x_v) for the k nearest v ≠ u of every u, (N, N) CSR, one row per node, not symmetric.

    Only neighbours with a cosine above 0 count, so that a row without features has none. Up to 30,000 nodes neighbours
    are exact: N² products, for as many rows at a time as fit 256 MB. Above, they are found with faiss
    (:func:`~.approximate.approximate_neighbours`). ``reduced`` gives the features reduced to few columns, leading ones
    first, where these exist already. With several ``shards``, it gives the rows of this process, as does the result.
    They divide the search by clusters; otherwise each process finds all neighbours.
    """
    if k < 1:
        raise SettingError(f"k is {k}, but a node needs at least 1 neighbour")
    x = row_l2(features) if isinstance(features, FEATURES) else features
    if x.shape[0] > EXACT_NODES:
        why = f"The search for nearest neighbours among more than {EXACT_NODES:,} nodes"
        return approximate_neighbours(import_extra("faiss", "large", why), x, k, reduced, shards)
    if _prefers_dense(x, MEMORY):
        pieces = _dense_pieces(x, k, MEMORY)
    else:
        pieces = _sparse_pieces(sp.csr_array(x), k, SPARSE_MEMORY)
    rows, columns, scores = (np.concatenate(part) for part in zip(*pieces, strict=True))
    keep = scores > 0
    found = sp.csr_array((scores[keep], (rows[keep], columns[keep])), shape=(x.shape[0], x.shape[0]))
    return found if shards.size == 1 else found[shards.rows(x.shape[0])]


def knn_adjacency(
    features: Features | Rows, k: int, reduced: Callable[[], np.ndarray] | None = None, shards: Shards = ALONE
) -> sp.csr_array:
    """A_uv = 1 where v is among the k nearest of u by cosine, or u among those of v, (N, N), symmetric."""
    near = nearest_neighbours(features, k, reduced, shards)
    near.data[:] = 1
    near.sort_indices()
    both = sp.csr_array(near.maximum(near.T.tocsr() if shards.size == 1 else _transposed(near, shards)))
    both.sort_indices()
    if both.nnz < np.iinfo(np.int32).max:
        both.indices, both.indptr = both.indices.astype(np.int32), both.indptr.astype(np.int32)
    return both


def _transposed(near: sp.csr_array, shards: Shards) -> sp.csr_array:
    """The own rows of Sᵀ from those of S, (n, N), with entries of 1."""
    count, own = near.shape[1], shards.rows(near.shape[1])
    pairs = np.stack([near.indices, np.repeat(np.arange(own.start, own.stop), np.diff(near.indptr))], axis=1)
    ends = [shards.rows_of(rank, count).stop for rank in range(shards.size)]
    process = np.searchsorted(ends, near.indices, side="right")
    received = np.concatenate(shards.swap([pairs[process == rank] for rank in range(shards.size)]))
    ones = np.ones(len(received), dtype=near.dtype)
    return sp.csr_array((ones, (received[:, 0] - own.start, received[:, 1])), shape=near.shape)


def can_find_neighbours(nodes: int) -> bool:
    """Whether :func:`nearest_neighbours` works for so many nodes: few enough, or faiss is installed."""
    return nodes <= EXACT_NODES or find_spec("faiss") is not None


def _prefers_dense(x: Features, budget: int) -> bool:
    """Whether BLAS beats the sparse product: N² F multiply-adds against Σ_j n_j², and the dense rows fit."""
    if not isinstance(x, sp.csr_array):
        return True
    count, width = x.shape
    shared = float((_frequencies(x).astype(np.float64) ** 2).sum())
    return count * width * 4 <= budget / 2 and SPARSE_COST * shared > float(count) ** 2 * width


def _dense_pieces(x: Features, k: int, budget: int) -> Iterator[Piece]:
    """The k largest entries of each row of the dense X Xᵀ, a block of rows at a time."""
    dense = x.toarray() if isinstance(x, sp.csr_array) else x
    count = dense.shape[0]
    first = count - min(k, count)
    step = max(1, budget // 2 // (count * 12))  # 12 bytes: a score, and its place in the partition
    for start in range(0, count, step):
        scores = dense[start : start + step] @ dense.T
        inside = np.arange(scores.shape[0])
        scores[inside, start + inside] = -1  # a node is not its own neighbour
        columns = np.argpartition(scores, first, axis=1)[:, first:]
        values = np.take_along_axis(scores, columns, axis=1)
        yield np.repeat(start + inside, columns.shape[1]), columns.ravel(), values.ravel()


def _sparse_pieces(x: sp.csr_array, k: int, budget: int) -> Iterator[Piece]:
    """The k largest entries of each row of the sparse X Xᵀ, a block of rows at a time."""
    transposed = x.T.tocsr()
    for start, stop in _row_blocks(x, budget):
        scores = x[start:stop] @ transposed
        nodes = np.repeat(np.arange(start, stop), np.diff(scores.indptr))
        scores.data[nodes == scores.indices] = -1  # a node is not its own neighbour
        best = _largest_per_row(scores.data, scores.indptr, k)
        yield nodes[best], scores.indices[best], scores.data[best]


def _row_blocks(x: sp.csr_array, budget: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose part of X Xᵀ fits the budget, by the bound min(N, Σ_{j ∈ x_u} n_j) on each row."""
    reach = sp.csr_array((np.ones(x.nnz), x.indices, x.indptr), shape=x.shape) @ _frequencies(x)
    entries = np.cumsum(np.minimum(reach, x.shape[0]))
    limit = max(1, budget // 24)  # 24 bytes: value and column, once more while scipy makes room, and the row
    start, done = 0, 0.0
    while start < x.shape[0]:
        stop = max(start + 1, int(np.searchsorted(entries, done + limit, side="right")))
        yield start, stop
        start, done = stop, float(entries[stop - 1])


def _largest_per_row(values: np.ndarray, indptr: np.ndarray, k: int) -> np.ndarray:
    """Positions of the k largest values of each row of a CSR matrix (all of a shorter row)."""
    picked = []
    for low, high in itertools.pairwise(indptr.tolist()):
        if high - low <= k:
            picked.append(np.arange(low, high))
        else:
            picked.append(low + np.argpartition(values[low:high], high - low - k)[high - low - k :])
    return np.concatenate(picked)


def _frequencies(x: sp.csr_array) -> np.ndarray:
    """n_j, the number of rows that have feature j, (F,)."""
    return np.bincount(x.indices, minlength=x.shape[1])
