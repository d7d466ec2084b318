"""The neighbours of a node as its words: TF-IDF of A + I with unit rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.transforms.features import idf_of, row_l2, scale_columns
from drgst.transforms.products import ScaledMatrix


def neighbour_idf(a: sp.csr_array) -> np.ndarray:
    """The idf of the columns of A + I, (N,) float32; A is symmetric with a zero diagonal."""
    return idf_of(np.diff(a.indptr) + 1, a.shape[0])


def neighbour_words(a: sp.csr_array, idf: np.ndarray) -> sp.csr_array:
    """TF-IDF of A + I with unit rows, (N, F) for F values of ``idf``; later nodes are no columns."""
    words = sp.csr_array(a + sp.eye_array(a.shape[0], dtype=np.float32, format="csr"))
    words = words if idf.size == words.shape[0] else sp.csr_array(words[:, : idf.size])
    return row_l2(scale_columns(words, idf))


def scaled_neighbour_words(a: sp.csr_array, edges: sp.csr_array, idf: np.ndarray) -> ScaledMatrix:
    """The same, (N, N), as a scaled D^-½ (A + I) D^-½ = ``edges``."""
    roots = np.sqrt(1 + np.asarray(a.sum(axis=1), dtype=np.float32).ravel())
    squared = sp.csr_array((a.data * a.data, a.indices, a.indptr), shape=a.shape)
    lengths = np.sqrt((squared @ (idf * idf) + idf * idf).astype(np.float32))
    return ScaledMatrix(roots / lengths, edges, roots * idf)
