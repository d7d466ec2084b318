"""Approximate nearest neighbours by cosine, with faiss: by links between nodes, or by clusters of many nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features
from drgst.shards import ALONE, Shards
from drgst.transforms.features import reduce_columns, row_l2
from drgst.transforms.products import row_blocks

Neighbours: TypeAlias = tuple[np.ndarray, np.ndarray]  # k nodes per node, and their cosines, (N, k) each

SEARCH_COLUMNS = 512  # of the rows that are searched; with more, they are reduced
REDUCED_COLUMNS = 256
CANDIDATES = 12  # per neighbour, whose exact cosine is computed where the searched rows are reduced
# Links per node, and lengths of the candidate lists of construction and search. Recall of 10 neighbours is 0.99 on
# Pubmed (500 columns, not reduced) and 0.96, 0.95, 0.92 on Cora, Citeseer, Flickr (reduced).
HNSW_M, EF_CONSTRUCTION, EF_SEARCH = 32, 80, 64
LINKED_NODES = 100_000  # above so many nodes, clusters are searched instead
CLUSTER_SIZE = 1_000  # nodes per cluster
SEARCHED_NODES = 8_000  # of the nearest clusters, whose cosines with all nodes of a cluster are one matrix product
FEWER_NODES, MANY_NODES = 4_000, 2_000_000  # that are searched above so many nodes
NEAREST_CLUSTERS = 64  # that are searched at most
CLUSTER_SAMPLE, CLUSTER_ROUNDS = 64, 5  # nodes per cluster that k-means uses, and its iterations
FEW_CANDIDATES = 4  # per neighbour where clusters are searched, since their exact cosines take much of the time
CLUSTER_COLUMNS = 64  # of the reduced rows that are searched


def approximate_neighbours(
    faiss: Any, x: Features, k: int, reduced: Callable[[], np.ndarray] | None = None, shards: Shards = ALONE
) -> sp.csr_array:
    """cos(x_u, x_v) for k near v ≠ u of every u, (N, N) CSR, for unit rows x: links up to 100,000 nodes, else clusters.

    ``faiss`` is the module. The result does not depend on the number of threads.
    """
    if x.shape[0] <= LINKED_NODES:
        columns, scores = _linked(faiss, x, k)
    else:
        z = reduced() if reduced else reduce_columns(x, REDUCED_COLUMNS)
        columns, scores = _clustered(faiss, x, z, k, shards)
    keep = scores > 0
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(keep, axis=1))])
    return sp.csr_array((scores[keep], columns[keep], indptr), shape=(x.shape[0], x.shape[0]))


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


def _clustered(faiss: Any, x: Features, z: np.ndarray, k: int, shards: Shards) -> Neighbours:
    """The k nearest by z, the reduced rows, among the 8,000 nodes or more of the clusters nearest to a node's cluster.

    Above 2 million nodes, 4,000 are searched. There are N / 1,000 clusters, made by k-means of a sample. The cosines
    of a cluster's nodes are one matrix product; the exact cosine then decides between 4 k candidates where x has more
    columns. Clusters are divided among the ``shards``, and among as many threads as torch has.
    """
    import torch  # slow to import

    columns, scores = _empty(x.shape[0], k)
    reduced = x.shape[1] > min(z.shape[1], CLUSTER_COLUMNS)
    candidates = FEW_CANDIDATES * k if reduced else k
    z = np.ascontiguousarray(row_l2(z[:, :CLUSTER_COLUMNS]), dtype=np.float32)
    with _one_thread(faiss):
        clusters = _Clusters(faiss, z)

    def search(number: int) -> None:
        faiss.omp_set_num_threads(1)  # of this thread
        near_nodes = clusters.near(number)
        members = clusters.members(number)
        base = z[near_nodes]
        for rows in row_blocks(members.size, _row_width(x, candidates)):
            nodes = members[rows]
            found, near = faiss.knn(z[nodes], base, min(candidates + 1, near_nodes.size), faiss.METRIC_INNER_PRODUCT)
            near = np.where(near < 0, -1, near_nodes[near])
            own, values = _best(x if reduced else None, nodes, near, found, k)
            columns[nodes, : own.shape[1]], scores[nodes, : own.shape[1]] = own, values

    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        for _ in pool.map(search, range(shards.rank, clusters.count, shards.size)):
            pass
    return shards.sum(columns), shards.sum(scores)


def _empty(count: int, k: int) -> Neighbours:
    return np.zeros((count, k), dtype=np.int32), np.zeros((count, k), dtype=np.float32)


class _Clusters:
    """Clusters of the unit rows z by spherical k-means, and which clusters are near each other."""

    def __init__(self, faiss: Any, z: np.ndarray) -> None:
        count, width = z.shape
        self.searched = FEWER_NODES if count > MANY_NODES else SEARCHED_NODES
        self.count = max(1, round(count / CLUSTER_SIZE))
        sample = z[:: max(1, count // (CLUSTER_SAMPLE * self.count))]
        means = faiss.Kmeans(width, self.count, niter=CLUSTER_ROUNDS, spherical=True, seed=0, min_points_per_centroid=1)
        means.train(np.ascontiguousarray(sample))
        index = faiss.IndexFlatIP(width)
        index.add(means.centroids)
        own = np.empty(count, dtype=np.int32)
        for rows in row_blocks(count, self.count):
            own[rows] = index.search(z[rows], 1)[1][:, 0]
        self.order = np.argsort(own, kind="stable").astype(np.int32)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=self.count))])
        self.nearest = index.search(means.centroids, min(NEAREST_CLUSTERS, self.count))[1]

    def members(self, number: int) -> np.ndarray:
        return self.order[self.starts[number] : self.starts[number + 1]]

    def near(self, number: int) -> np.ndarray:
        """The nodes of the cluster and of the nearest others, as many as are searched or a few more, sorted."""
        parts = [self.members(number)]
        for other in self.nearest[number]:
            if sum(part.size for part in parts) >= self.searched:
                break
            if other != number:
                parts.append(self.members(other))
        return np.sort(np.concatenate(parts))


@contextmanager
def _one_thread(faiss: Any) -> Iterator[None]:
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def _row_width(x: Features, candidates: int) -> int:
    """Numbers per row that the exact cosines of ``candidates`` need."""
    return x.shape[1] * (candidates + 1 if isinstance(x, np.ndarray) else 1)


def _best(
    x: Features | None, nodes: np.ndarray, near: np.ndarray, found: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k of the candidates ``near`` of highest score ``found``, or of highest cosine of x where it is given."""
    none = (near == nodes[:, None]) | (near < 0)  # itself, or none found
    score = found if x is None else _cosines(x, nodes, np.maximum(near, 0))
    score[none] = -1
    best = np.argsort(-score, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(near, best, axis=1), np.take_along_axis(score, best, axis=1)


def _cosines(x: Features, nodes: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """x_u · x_v for u in ``nodes`` and the v in its row of ``columns``, (U, V), for unit rows x."""
    own, others = x[nodes], x[columns.ravel()]
    if isinstance(x, np.ndarray):
        return np.einsum("uf,uvf->uv", own, others.reshape(*columns.shape, -1))
    per_row = np.diff(others.indptr[:: columns.shape[1]])
    place = np.repeat(np.arange(own.shape[0]) * own.shape[1], per_row) + others.indices
    products = np.append(others.data * own.toarray().ravel().take(place), np.float32(0))
    sums = np.add.reduceat(products, others.indptr[:-1])
    return np.where(np.diff(others.indptr) > 0, sums, 0).reshape(columns.shape)
