"""Normalised forms of an adjacency matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

ROWS = 1_000_000  # that are scaled at a time


def sym_norm(a: sp.csr_array) -> sp.csr_array:
    """Â = D̃^-½ (A + I) D̃^-½ with D̃ the row sums of A + I: the normalising operator 𝔑(A) of the paper, (N, N)."""
    return sym_norm_without_loops((a + sp.eye_array(a.shape[0], dtype=np.float32, format="csr")).tocsr())


def sym_norm_without_loops(a: sp.csr_array) -> sp.csr_array:
    """S = D^-½ A D^-½ with D the row sums of A; the row of an isolated node is zero, (N, N)."""
    return _scale(a, 0.5, 0.5)


def mean_norm(a: sp.csr_array) -> sp.csr_array:
    """D^-1 A: the mean over neighbours; the row of an isolated node is zero, (N, N)."""
    return _scale(a, 1.0, 0.0)


def laplacian_norm(a: sp.csr_array) -> sp.csr_array:
    """2L/λ_max - I = -D^-½ A D^-½ for L = I - D^-½ A D^-½ and λ_max = 2: ChebNet's scaled Laplacian, (N, N)."""
    return -sym_norm_without_loops(a)


def _scale(a: sp.csr_array, left: float, right: float) -> sp.csr_array:
    """D^-left A D^-right with 1/0 read as 0."""
    degree = np.asarray(a.sum(axis=1), dtype=np.float64).ravel()
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    by_row, by_column = inverse**left if left else None, inverse**right if right else None
    data = np.empty(a.nnz, dtype=np.float32)
    for start in range(0, a.shape[0], ROWS):  # in float64, which would take thrice the memory of A at once
        ends = a.indptr[start : start + ROWS + 1]
        here = slice(ends[0], ends[-1])
        rows = 1.0 if by_row is None else np.repeat(by_row[start : start + ROWS], np.diff(ends))
        columns = 1.0 if by_column is None else by_column[a.indices[here]]
        data[here] = a.data[here] * rows * columns
    return sp.csr_array((data, a.indices, a.indptr), shape=a.shape)
