"""Features of nodes from the edges alone."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.transforms.features import FEW_ROUNDS, centre, svd
from drgst.transforms.propagate import sym_norm_without_loops

SPECTRAL = 64  # leading singular vectors, as in the view "structure" of drgst-plus
COLUMNS = SPECTRAL + 1


def structural_features(adjacency: sp.csr_array) -> np.ndarray:
    """[centred unit rows of U_k Σ_k of D^-½ A D^-½, normalised log(1 + degree)], (N, 65) float32.

    k = 64, or N - 1 where that is less; the columns that are missing are zero, so that every graph has 65.
    """
    count = adjacency.shape[0]
    out = np.zeros((count, COLUMNS), dtype=np.float32)
    if count > 1 and adjacency.nnz:
        k = min(SPECTRAL, count - 1)
        out[:, :k] = centre(svd(sym_norm_without_loops(adjacency), k, seed=0, rounds=FEW_ROUNDS))
    degree = np.log1p(np.diff(adjacency.indptr))
    spread = degree.std()
    out[:, SPECTRAL] = (degree - degree.mean()) / spread if spread > 0 else 0.0
    return out
