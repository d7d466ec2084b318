"""The view ``structure``: positions of nodes by the edges alone."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.selftrain.views.base import Term, View, reach_of
from drgst.selftrain.views.shared import Shared
from drgst.transforms.features import FEW_ROUNDS, krylov_vectors, svd
from drgst.transforms.products import MANY_ROWS, multiply_sparse
from drgst.transforms.propagate import sym_norm_without_loops

COLUMNS = 64


class Structure(View):
    """Centred unit rows of S V, S = D^-½ A D^-½ ≈ U Σ Vᵀ, (N, 64); of new nodes by their edges to fitted ones."""

    name = "structure"
    needs_edges = of_nodes = True

    def make(self, shared: Shared) -> np.ndarray:
        s = sym_norm_without_loops(shared.graph.adjacency)
        v = shared.maps.learn(f"{self.name}.vectors", lambda: singular_vectors(s, min(COLUMNS, shared.columns)))
        s = s if shared.fitted_nodes == s.shape[0] else s[:, : shared.fitted_nodes]
        return shared.own_rows(shared.centred(self.name, multiply_sparse(s, v)))

    def terms(self, shared: Shared, node: int) -> list[Term]:
        s = sym_norm_without_loops(shared.graph.adjacency)
        reach, usual = (s @ start for start in reach_of(node, s.shape[0]))  # S is symmetric
        return [Term.of_unit(reach, usual, shared.maps.arrays[f"{self.name}.vectors"])]


def singular_vectors(s: sp.csr_array, width: int) -> np.ndarray:
    """V = S U Σ / Σ², (N, ``width``) or fewer columns, of a symmetric S ≈ U Σ Vᵀ, (N, N)."""
    if s.shape[0] > MANY_ROWS:
        return krylov_vectors(s, width, symmetric=True)
    leading = svd(s, min(width, s.shape[0] - 1), seed=0, rounds=FEW_ROUNDS, symmetric=True)
    squares = np.maximum(np.einsum("ij,ij->j", leading, leading), np.finfo(np.float32).tiny)
    found = multiply_sparse(s, leading)
    return np.divide(found, squares, out=found)
