"""Feature maps, each a pure function Graph -> Graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.errors import SettingError
from drgst.graph.core import Features, Graph


def row_l1(graph: Graph) -> Graph:
    """x_i / Σ_j |x_ij|: the paper's row normalisation; rows of zeros stay zero."""
    return graph.with_(features=_divide_rows(graph.features, _row_sums(abs(graph.features))))


def row_l2(graph: Graph) -> Graph:
    """x_i / ‖x_i‖₂: unit rows, so that a product of two rows is their cosine; rows of zeros stay zero."""
    return graph.with_(features=unit_rows(graph.features))


def tfidf(graph: Graph) -> Graph:
    """x_ij · (1 + log((1 + N) / (1 + n_j))) with n_j the number of nodes that have feature j: rare words count more."""
    return graph.with_(features=_scale_columns(graph.features, inverse_frequency(graph.features)))


def svd(graph: Graph, k: int, seed: int, rounds: int = 7) -> Graph:
    """U_k Σ_k of X ≈ U_k Σ_k V_kᵀ, (N, k) dense: truncated SVD by ``rounds`` of randomised subspace iteration.

    Signs are fixed (the largest entry of each column is positive), so that a seed gives the same matrix again.
    """
    limit = min(graph.features.shape)
    if not 1 <= k <= limit:
        raise SettingError(f"svd has k = {k}, but the features of {graph.name!r} allow 1 to {limit}")
    basis = _range_basis(graph.features, min(k + 10, limit), np.random.default_rng(seed), rounds)
    u, s, _ = np.linalg.svd(np.asarray(basis.T @ graph.features), full_matrices=False)
    reduced = (basis @ u[:, :k]) * s[:k]
    peak = reduced[np.abs(reduced).argmax(axis=0), np.arange(k)]
    return graph.with_(features=np.ascontiguousarray(reduced * np.where(peak < 0, -1, 1), dtype=np.float32))


def unit_rows(x: Features) -> Features:
    """x_i / ‖x_i‖₂, (N, F)."""
    squares = x.multiply(x) if isinstance(x, sp.csr_array) else x * x
    return _divide_rows(x, np.sqrt(_row_sums(squares)))


def inverse_frequency(x: Features) -> np.ndarray:
    """1 + log((1 + N) / (1 + n_j)), (F,) float32."""
    if isinstance(x, sp.csr_array):
        present = np.bincount(x.indices, minlength=x.shape[1])
    else:
        present = np.count_nonzero(x, axis=0)
    return (1 + np.log((1 + x.shape[0]) / (1 + present))).astype(np.float32)


def _range_basis(x: Features, width: int, rng: np.random.Generator, rounds: int) -> np.ndarray:
    """An orthonormal (N, width) basis of the leading left singular vectors: Q ← orth(X orth(Xᵀ Q)), repeated."""
    q = np.linalg.qr(x @ rng.standard_normal((x.shape[1], width), dtype=np.float32))[0]
    for _ in range(rounds):
        q = np.linalg.qr(x @ np.linalg.qr(x.T @ q)[0])[0]
    return q


def _row_sums(x: Features) -> np.ndarray:
    return np.asarray(x.sum(axis=1, dtype=np.float64)).reshape(-1)


def _divide_rows(x: Features, by: np.ndarray) -> Features:
    scale = np.divide(1.0, by, out=np.zeros_like(by), where=by > 0).astype(np.float32)
    if isinstance(x, sp.csr_array):
        return _like(x, x.data * np.repeat(scale, np.diff(x.indptr)))
    return x * scale[:, None]


def _scale_columns(x: Features, by: np.ndarray) -> Features:
    return _like(x, x.data * by[x.indices]) if isinstance(x, sp.csr_array) else x * by


def _like(x: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    """A matrix with the pattern of ``x`` and other values."""
    return sp.csr_array((data, x.indices, x.indptr), shape=x.shape)
