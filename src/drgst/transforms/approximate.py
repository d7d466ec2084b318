"""Approximate nearest neighbours by cosine, with faiss: by links between nodes, or by clusters of many nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features
from drgst.shards import ALONE, Shards
from drgst.transforms.features import reduce_columns, row_l2
from drgst.transforms.products import BLOCK_BYTES, row_blocks

Neighbours: TypeAlias = tuple[np.ndarray, np.ndarray]  # k nodes per node, and their cosines, (N, k) each

SEARCH_COLUMNS = 512  # of the rows that are searched; with more, they are reduced
REDUCED_COLUMNS = 256
CANDIDATES = 12  # per neighbour, whose exact cosine is computed where the searched rows are reduced
# Links per node, and lengths of the candidate lists of construction and search. Recall of 10 neighbours is 0.99 on
# Pubmed (500 columns, not reduced) and 0.96, 0.95, 0.92 on Cora, Citeseer, Flickr (reduced).
HNSW_M, EF_CONSTRUCTION, EF_SEARCH = 32, 80, 64
LINKED_NODES = 50_000  # above so many nodes, clusters are searched instead, in a quarter of the time
CLUSTER_SIZE, MOST_CLUSTERS = 1_000, 2_048  # nodes per cluster, and clusters at most
SEARCHED = ((2_000_000, 8), (np.inf, 2))  # (nodes, clusters that are searched for each)
CLUSTER_SAMPLE, LEAST_SAMPLE, CLUSTER_ROUNDS = 64, 20_000, 5  # nodes per cluster and in all, for k-means; iterations
# Candidates per neighbour where clusters are searched. With 6, recall of 10 neighbours by 99 columns is 0.65, 0.61,
# 0.62 on Cora, Pubmed, Flickr; with 4 it is 0.58, 0.51, 0.57, and 0.62, 0.61, 0.60 where rows are not quantised.
FEW_CANDIDATES = 6
CLUSTER_COLUMNS, FEWEST_QUANTISED = 64, 16  # of the reduced rows that are searched; with fewer they are not quantised
QUERIES = 8_192  # nodes that are searched for at a time


class Rows(Protocol):
    """The unit rows of nodes, (N, F), that are read when they are asked for."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def __getitem__(self, nodes: np.ndarray) -> Features: ...


def approximate_neighbours(
    faiss: Any, x: Features | Rows, k: int, reduced: Callable[[], np.ndarray] | None = None, shards: Shards = ALONE
) -> sp.csr_array:
    """cos(x_u, x_v) for k near v ≠ u of every u, (N, N) CSR, for unit rows x: links up to 50,000 nodes, else clusters.

    ``faiss`` is the module. The result does not depend on the number of threads. With several
    ``shards``, it and what ``reduced`` gives have the rows of this process.
    """
    count = x.shape[0]
    if count <= LINKED_NODES:
        columns, scores = (found[shards.rows(count)] for found in _linked(faiss, x, k))
    else:
        z = reduced() if reduced else reduce_columns(x, REDUCED_COLUMNS)
        columns, scores = _clustered(faiss, x, z, k, shards)
    keep = scores > 0
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(keep, axis=1))])
    return sp.csr_array((scores[keep], columns[keep], indptr), shape=(columns.shape[0], count))


def _linked(faiss: Any, x: Features, k: int) -> Neighbours:
    """The k nearest that faiss finds in a hierarchical navigable small world (Malkov, Yashunin 2018).

    More than 512 columns are reduced to 256 by truncated SVD; the exact cosine then decides between 12 k candidates.
    The links are made by one thread, so that the result does not depend on the number of threads.
    """
    columns, scores = _empty(x.shape[0], k)
    reduced = x.shape[1] > SEARCH_COLUMNS
    z = np.ascontiguousarray(row_l2(reduce_columns(x, REDUCED_COLUMNS if reduced else SEARCH_COLUMNS)))
    candidates = CANDIDATES * k if reduced else k
    index = faiss.IndexHNSWFlat(z.shape[1], HNSW_M, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = EF_CONSTRUCTION, max(EF_SEARCH, CANDIDATES * k + 1)
    with _one_thread(faiss):
        index.add(z)
    # The index has a copy of z.
    z = faiss.rev_swig_ptr(faiss.downcast_index(index.storage).get_xb(), z.size).reshape(z.shape)
    for rows in row_blocks(x.shape[0], _row_width(x, candidates)):
        found, near = index.search(z[rows], candidates + 1)  # itself is among them
        nodes = np.arange(rows.start, rows.stop)
        columns[rows], scores[rows] = _best(x if reduced else None, nodes, near, found, k)
    return columns, scores


def _clustered(faiss: Any, x: Features | Rows, z: np.ndarray, k: int, shards: Shards) -> Neighbours:
    """The k nearest of 6 k candidates by z, the reduced rows, among the nodes of the clusters nearest to a node.

    There are N / 1,000 clusters, at most 2,048, made by k-means of a sample; 8 are searched for every node, above 2
    million nodes 2. Inner products with a node's residual z - c are those of its product quantisation, 4 bits for two
    columns (Jégou et al. 2011; André et al. 2015); the exact cosine of x then decides between the candidates. Nodes are
    divided among the ``shards``, of which each has the quantised rows of all, and among as many threads as torch has.
    """
    import torch  # slow to import

    candidates, own = FEW_CANDIDATES * k, shards.rows(x.shape[0])
    z = np.ascontiguousarray(row_l2(z[:, :CLUSTER_COLUMNS]), dtype=np.float32)
    z = np.pad(z, ((0, 0), (0, 1))) if z.shape[1] % 2 else z
    with _one_thread(faiss):
        index = _index(faiss, z, x.shape[0], shards)
    columns, scores = _empty(own.stop - own.start, k)

    def search(first: int) -> None:
        faiss.omp_set_num_threads(1)  # of this thread
        last = min(first + QUERIES, own.stop)
        found, near = index.search(z[first - own.start : last - own.start], candidates + 1)  # itself is among them
        for rows in row_blocks(last - first, _row_width(x, candidates)):
            nodes = np.arange(first, last)[rows]
            there = nodes - own.start
            columns[there], scores[there] = _best(x, nodes, near[rows], found[rows], k)

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        for _ in pool.map(search, range(own.start, own.stop, QUERIES)):
            pass
    return columns, scores


def _index(faiss: Any, z: np.ndarray, count: int, shards: Shards) -> Any:
    """The clusters of the unit rows z, (``count``, D), with the quantised rows of their nodes."""
    width = z.shape[1]
    clusters = min(max(1, round(count / CLUSTER_SIZE)), MOST_CLUSTERS)
    kind = f"PQ{width // 2}x4fs" if width >= FEWEST_QUANTISED else "Flat"
    index = faiss.index_factory(width, f"IVF{clusters},{kind}", faiss.METRIC_INNER_PRODUCT)
    index.cp.niter, index.cp.spherical, index.cp.min_points_per_centroid = CLUSTER_ROUNDS, True, 1
    step = max(1, count // max(CLUSTER_SAMPLE * clusters, LEAST_SAMPLE))
    index.train(np.ascontiguousarray(shards.at(z, np.arange(0, count, step), count)))
    for block in shards.blocks(z, count):
        index.add(block)
    index.nprobe = next(searched for nodes, searched in SEARCHED if count <= nodes)
    return index


def _empty(count: int, k: int) -> Neighbours:
    return np.zeros((count, k), dtype=np.int32), np.zeros((count, k), dtype=np.float32)


@contextmanager
def _one_thread(faiss: Any) -> Iterator[None]:
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def _row_width(x: Features | Rows, candidates: int) -> int:
    """Numbers per row that the exact cosines of ``candidates`` need; of sparse rows 256 or fewer fit the cache."""
    return x.shape[1] * (candidates + 1) if isinstance(x, np.ndarray) else max(x.shape[1], BLOCK_BYTES // 4 // 256)


def _best(
    x: Features | Rows | None, nodes: np.ndarray, near: np.ndarray, found: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k of the candidates ``near`` of highest score ``found``, or of highest cosine of x where it is given."""
    none = (near == nodes[:, None]) | (near < 0)  # itself, or none found
    score = found if x is None else _cosines(x, nodes, np.maximum(near, 0))
    score[none] = -1
    best = np.argsort(-score, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(near, best, axis=1), np.take_along_axis(score, best, axis=1)


def _cosines(x: Features | Rows, nodes: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """x_u · x_v for u in ``nodes`` and the v in its row of ``columns``, (U, V), for unit rows x."""
    own, others = x[nodes], x[columns.ravel()]
    if isinstance(others, np.ndarray):
        return np.einsum("uf,uvf->uv", own, others.reshape(*columns.shape, -1))
    per_row = np.diff(others.indptr[:: columns.shape[1]])
    place = np.repeat(np.arange(own.shape[0]) * own.shape[1], per_row) + others.indices
    products = np.append(others.data * own.toarray().ravel().take(place), np.float32(0))
    sums = np.add.reduceat(products, others.indptr[:-1])
    return np.where(np.diff(others.indptr) > 0, sums, 0).reshape(columns.shape)
