"""Personalised PageRank of every node, cut down to its largest entries."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from drgst.errors import SettingError
from drgst.transforms.knn import largest_per_row
from drgst.transforms.propagate import propagate_to_limit

POWER_LIMIT = 5_000  # nodes up to which every entry is computed; beyond, small residuals are not pushed on


def pagerank_neighbours(
    adjacency: sp.csr_array, k: int = 32, alpha: float = 0.15, tolerance: float = 1e-4, memory_mb: float = 256
) -> sp.csr_array:
    r"""w_uv = S_uv / √(S_uu S_vv), the k largest v ≠ u of every u, with S = α (I - (1-α) D^-½ Ã D^-½)^-1, (N, N) CSR.

    Ã = A + I, D its degrees. S is personalised PageRank made symmetric; it is divided by its diagonal so that
    the self-loop of weight 1 that a network adds stands for S's own diagonal. Small graphs by power iteration,
    larger ones by pushing, for as many sources at a time as ``memory_mb`` allows.
    """
    _check(k, alpha, tolerance, memory_mb)
    walk, degrees = transition(adjacency)
    count = walk.shape[0]
    diagonal, pieces = np.ones(count), []
    for start, pi in _blocks(walk, degrees, alpha, tolerance, int(memory_mb * 2**20)):
        rows = np.repeat(np.arange(start, start + pi.shape[0]), np.diff(pi.indptr))
        symmetric = pi.data * np.sqrt(degrees[rows] / degrees[pi.indices])  # S = D^½ Π D^-½
        own = rows == pi.indices
        diagonal[rows[own]] = symmetric[own]
        symmetric[own] = -1  # a node is not its own neighbour
        best = largest_per_row(symmetric, pi.indptr, k)
        pieces.append((rows[best], pi.indices[best], symmetric[best]))
    rows, columns, s = (np.concatenate(part) for part in zip(*pieces, strict=True))
    weights = s / np.sqrt(diagonal[rows] * diagonal[columns])
    keep = weights > 0
    return sp.csr_array((weights[keep], (rows[keep], columns[keep])), shape=(count, count))


def transition(adjacency: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """D^-1 Ã with Ã = A + I, (N, N), and the degrees D, (N,)."""
    loops = adjacency + sp.eye_array(adjacency.shape[0], dtype=np.float32, format="csr")
    degrees = np.asarray(loops.sum(axis=1, dtype=np.float64))
    return sp.csr_array(sp.diags_array((1 / degrees).astype(np.float32)) @ loops), degrees


def power_iteration(walk: sp.csr_array, sources: np.ndarray, alpha: float, tolerance: float) -> np.ndarray:
    """Π_uv = α Σ_i (1-α)^i (W^i)_uv for the sources u, (len(sources), N); an entry is off by ``tolerance`` at most."""
    start = np.zeros((walk.shape[0], sources.size), dtype=np.float32)
    start[sources, np.arange(sources.size)] = 1
    return propagate_to_limit(walk.T.tocsr(), start, alpha, tolerance).T


def push(walk: sp.csr_array, sources: np.ndarray, degrees: np.ndarray, alpha: float, tolerance: float) -> sp.csr_array:
    """Π of the sources by pushing residuals: P += α R, R ← (1-α) R W, only where r_uv ≥ tolerance · d_v; sparse.

    P + R Π = Π holds throughout, so what is missing in the end is at most tolerance · d_v per entry; each source
    touches at most 1 / (α · tolerance) edges, however large the graph.
    """
    shape = (sources.size, walk.shape[0])
    residual = sp.csr_array((np.ones(sources.size, dtype=np.float32), (np.arange(sources.size), sources)), shape=shape)
    result = sp.csr_array(shape, dtype=np.float32)
    while (large := residual.data >= tolerance * degrees[residual.indices]).any():
        hot = _masked(residual, large)
        result = result + alpha * hot
        residual = _masked(residual, ~large) + (1 - alpha) * (hot @ walk)
    return result


def _blocks(
    walk: sp.csr_array, degrees: np.ndarray, alpha: float, tolerance: float, budget: int
) -> Iterator[tuple[int, sp.csr_array]]:
    count = walk.shape[0]
    exact = count <= POWER_LIMIT
    row = 16 * count if exact else 48 * min(count, math.ceil(1 / (alpha * tolerance)))  # bytes, at the worst
    step = max(1, budget // row)
    for start in range(0, count, step):
        sources = np.arange(start, min(count, start + step))
        if exact:
            yield start, sp.csr_array(power_iteration(walk, sources, alpha, tolerance))
        else:
            yield start, push(walk, sources, degrees, alpha, tolerance)


def _masked(matrix: sp.csr_array, keep: np.ndarray) -> sp.csr_array:
    """The entries where ``keep`` holds."""
    kept = np.concatenate([[0], np.cumsum(keep)])[matrix.indptr]
    return sp.csr_array((matrix.data[keep], matrix.indices[keep], kept), shape=matrix.shape)


def _check(k: int, alpha: float, tolerance: float, memory_mb: float) -> None:
    if k < 1:
        raise SettingError(f"k is {k}, but a node needs at least 1 neighbour")
    for name, value in (("alpha", alpha), ("tolerance", tolerance)):
        if not 0 < value < 1:
            raise SettingError(f"{name} is {value}, but must lie between 0 and 1")
    if memory_mb <= 0:
        raise SettingError(f"memory_mb is {memory_mb}, but must be above 0")
