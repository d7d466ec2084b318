"""Nearest neighbours by cosine: exact, in pieces that fit a memory bound, or approximate for many nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from drgst.errors import SettingError
from drgst.extras import import_extra
from drgst.graph.core import Features, clean_adjacency
from drgst.graph.transforms.features import reduce_columns, row_l2
from drgst.graph.transforms.products import row_blocks

Piece: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns, scores

# One multiply-add of a sparse product costs about as much as this many of a dense one (measured: 4 ns, 0.03 ns).
SPARSE_COST = 130
EXACT_NODES = 30_000  # up to which neighbours are exact by default: N² products take half a minute
SEARCH_COLUMNS = 512  # of the rows that are searched; with more, they are reduced
REDUCED_COLUMNS = 256
CANDIDATES = 12  # per neighbour, whose exact cosine is computed where the searched rows are reduced
# Links per node, and lengths of the candidate lists while links are made and while they are followed. Recall of 10
# neighbours is 0.99 on Pubmed (500 columns, not reduced) and 0.96, 0.95, 0.92 on Cora, Citeseer, Flickr (reduced).
LINKS, MAKING, FOLLOWING = 32, 80, 64
# Above so many nodes, clusters are searched instead: 22 CPU seconds for 200,000 nodes of a block model.
LINKED_NODES = 100_000
CLUSTER_COLUMNS = 64
CLUSTERS, NEAREST_CLUSTERS = 2.0, 8  # clusters over the root of N, and how many of them are searched
CLUSTER_SAMPLE, CLUSTER_ROUNDS = 64, 5  # nodes per cluster that k-means uses, and its iterations
FEW_CANDIDATES, MANY_NODES = 4, 200_000  # per neighbour above so many nodes, since their cosines take most of the time


def nearest_neighbours(
    features: Features,
    k: int,
    memory_mb: float = 256,
    exact: bool | None = None,
    reduced: Callable[[], np.ndarray] | None = None,
) -> sp.csr_array:
    """cos(x_u, x_v) for the k nearest v ≠ u of every u, (N, N) CSR, one row per node, not symmetric.

    Only neighbours with a cosine above 0 count, so that a row without features has none. ``exact`` neighbours need N²
    products; they are computed for as many rows at a time as ``memory_mb`` allows beside the features themselves. Else
    neighbours are found with faiss, by links (:func:`_linked_pieces`) up to 100,000 nodes, else by clusters
    (:func:`_clustered_pieces`). The default is exact up to 30,000 nodes. ``reduced`` gives the features reduced to few
    columns, leading ones first, where they are there already.
    """
    if k < 1:
        raise SettingError(f"k is {k}, but a node needs at least 1 neighbour")
    if memory_mb <= 0:
        raise SettingError(f"memory_mb is {memory_mb}, but must be above 0")
    x = row_l2(features)
    budget = int(memory_mb * 2**20)
    if not (x.shape[0] <= EXACT_NODES if exact is None else exact):
        reduced = reduced or (lambda: reduce_columns(x, REDUCED_COLUMNS))
        pieces = _linked_pieces(x, k) if x.shape[0] <= LINKED_NODES else _clustered_pieces(x, k, reduced())
    elif _prefers_dense(x, budget):
        pieces = _dense_pieces(x, k, budget)
    else:
        pieces = _sparse_pieces(sp.csr_array(x), k, budget)
    rows, columns, scores = (np.concatenate(part) for part in zip(*pieces, strict=True))
    keep = scores > 0
    return sp.csr_array((scores[keep], (rows[keep], columns[keep])), shape=(x.shape[0], x.shape[0]))


def knn_adjacency(
    features: Features,
    k: int,
    memory_mb: float = 256,
    exact: bool | None = None,
    reduced: Callable[[], np.ndarray] | None = None,
) -> sp.csr_array:
    """A_uv = 1 where v is among the k nearest of u by cosine, or u among those of v, (N, N), symmetric."""
    near = nearest_neighbours(features, k, memory_mb, exact, reduced)
    near.data[:] = 1
    return clean_adjacency(near).adjacency


def can_find_neighbours(nodes: int) -> bool:
    """Whether :func:`nearest_neighbours` works by default for so many nodes: few enough, or faiss is installed."""
    return nodes <= EXACT_NODES or find_spec("faiss") is not None


def _faiss() -> Any:
    return import_extra("faiss", "large", f"The search for nearest neighbours among more than {EXACT_NODES:,} nodes")


def _linked_pieces(x: Features, k: int) -> Iterator[Piece]:
    """The k nearest that faiss finds in a hierarchical navigable small world (Malkov, Yashunin 2018).

    More than 512 columns are reduced to 256 by truncated SVD; the exact cosine then decides between 12 k candidates.
    The links are made by one thread, so that the result does not depend on the number of threads.
    """
    faiss = _faiss()
    reduced = x.shape[1] > SEARCH_COLUMNS
    z = np.ascontiguousarray(row_l2(reduce_columns(x, REDUCED_COLUMNS if reduced else SEARCH_COLUMNS)))
    index = faiss.IndexHNSWFlat(z.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = MAKING, max(FOLLOWING, CANDIDATES * k + 1)
    with _one_thread(faiss):
        index.add(z)
    # The index has a copy of z.
    z = faiss.rev_swig_ptr(faiss.downcast_index(index.storage).get_xb(), z.size).reshape(z.shape)
    return _search(index, z, x, k, CANDIDATES * k if reduced else k)


def _clustered_pieces(x: Features, k: int, z: np.ndarray) -> Iterator[Piece]:
    """The k nearest among 12 k candidates, 4 k above 200,000 nodes: the nearest by z in the 8 nearest of 2 √N clusters.

    z are the ``x`` reduced to few columns, (N, D), of which the first 64 are used. Clusters are made by k-means of a
    sample of z (faiss, inverted lists), with one thread, so that the result does not depend on the number of threads.
    """
    faiss = _faiss()
    z = np.ascontiguousarray(row_l2(z[:, :CLUSTER_COLUMNS]), dtype=np.float32)
    count, width = z.shape
    clusters = int(CLUSTERS * math.sqrt(count))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, clusters, faiss.METRIC_INNER_PRODUCT)
    index.nprobe, index.cp.niter, index.cp.spherical = NEAREST_CLUSTERS, CLUSTER_ROUNDS, True
    index.cp.min_points_per_centroid = 1
    with _one_thread(faiss):
        index.train(z[:: max(1, count // (CLUSTER_SAMPLE * clusters))])
        index.add(z)
    return _search(index, z, x, k, (CANDIDATES if count <= MANY_NODES else FEW_CANDIDATES) * k)


@contextmanager
def _one_thread(faiss: Any) -> Iterator[None]:
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def _search(index: Any, z: np.ndarray, x: Features, k: int, candidates: int) -> Iterator[Piece]:
    """The k nearest of every row among its ``candidates`` by z; by the cosine of x where these are more than k."""
    found = candidates + 1  # itself is among them
    for rows in row_blocks(x.shape[0], x.shape[1] * (found if isinstance(x, np.ndarray) else 1)):
        scores, columns = index.search(z[rows], found)
        none = (columns == np.arange(rows.start, rows.stop)[:, None]) | (columns < 0)  # itself, or none found
        if candidates > k:
            scores = _cosines(x, rows, np.maximum(columns, 0))
        scores[none] = -1
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        values, columns = (np.take_along_axis(a, best, axis=1) for a in (scores, columns))
        yield np.repeat(np.arange(rows.start, rows.stop), k), columns.ravel(), values.ravel()


def _cosines(x: Features, rows: slice, columns: np.ndarray) -> np.ndarray:
    """x_u · x_v for u in ``rows`` and the v in its row of ``columns``, (U, V), for unit rows x."""
    own, others = x[rows], x[columns.ravel()]
    if isinstance(x, np.ndarray):
        return np.einsum("uf,uvf->uv", own, others.reshape(*columns.shape, -1))
    per_row = np.diff(others.indptr[:: columns.shape[1]])
    place = np.repeat(np.arange(own.shape[0]) * own.shape[1], per_row) + others.indices
    products = np.append(others.data * own.toarray().ravel().take(place), np.float32(0))
    sums = np.add.reduceat(products, others.indptr[:-1])
    return np.where(np.diff(others.indptr) > 0, sums, 0).reshape(columns.shape)


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
        best = largest_per_row(scores.data, scores.indptr, k)
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


def largest_per_row(values: np.ndarray, indptr: np.ndarray, k: int) -> np.ndarray:
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
