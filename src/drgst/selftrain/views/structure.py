"""The view ``structure``: positions of nodes by the edges alone."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.selftrain.views.base import View
from drgst.selftrain.views.shared import Shared
from drgst.transforms.features import FEW_ROUNDS, svd
from drgst.transforms.products import multiply_sparse
from drgst.transforms.propagate import sym_norm_without_loops

COLUMNS = 64


class Structure(View):
    """Centred unit rows of S V, S = D^-½ A D^-½ ≈ U Σ Vᵀ, (N, 64); of new nodes by their edges to fitted ones."""

    name = "structure"
    needs_edges = of_nodes = True

    def make(self, shared: Shared) -> np.ndarray:
        """S V with the V of the fitted graph."""
        s = sym_norm_without_loops(shared.graph.adjacency)
        v = shared.maps.learn(f"{self.name}.vectors", lambda: self._vectors(shared, s))
        s = s if shared.fitted_nodes == s.shape[0] else s[:, : shared.fitted_nodes]
        positions = multiply_sparse(s, v) if shared.large else np.asarray(s @ v)
        return shared.own_rows(shared.centred(self.name, positions))

    def _vectors(self, shared: Shared, s: sp.csr_array) -> np.ndarray:
        width = min(COLUMNS, s.shape[0] - 1)
        width = min(width, shared.columns) if shared.large else width
        leading = svd(s, width, seed=0, rounds=FEW_ROUNDS, symmetric=shared.large)
        sums = np.einsum("ij,ij->j", leading, leading) if shared.large else (leading * leading).sum(axis=0)
        squares = np.maximum(sums, np.finfo(np.float32).tiny)
        found = multiply_sparse(s, leading) if shared.large else s @ leading
        return np.asarray(np.divide(found, squares, out=found), dtype=np.float32)
