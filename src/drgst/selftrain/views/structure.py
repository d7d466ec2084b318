"""The view ``structure``: positions of nodes by the edges alone."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.views.base import Term, View, reach_of
from drgst.selftrain.views.shared import Shared
from drgst.shards import ALONE, Shards
from drgst.transforms.features import FEW_ROUNDS, krylov_vectors, svd
from drgst.transforms.products import MANY_ROWS, multiply_sparse
from drgst.transforms.propagate import Normalised, sym_norm_without_loops

COLUMNS = 64


class Structure(View):
    """Centred unit rows of S V, S = D^-½ A D^-½ ≈ U Σ Vᵀ, (N, 64); of new nodes by their edges to fitted ones."""

    name = "structure"
    needs_edges = of_nodes = True

    def make(self, shared: Shared) -> np.ndarray:
        s, width = sym_norm_without_loops(shared.adjacency, shared.shards), min(COLUMNS, shared.columns)
        v = shared.of_nodes(self.vectors, lambda: singular_vectors(s, width, shared.shards))
        s = s if shared.fitted_nodes == s.shape[0] else s[:, : shared.fitted_nodes]
        return shared.centred(self.name, multiply_sparse(s, v))

    def terms(self, shared: Shared, node: int) -> list[Term]:
        s = sym_norm_without_loops(shared.graph.adjacency)
        reach, usual = (s @ start for start in reach_of(node, s.shape[0]))  # S is symmetric
        return [Term.of_unit(reach, usual, shared.maps.arrays[f"{self.name}.vectors"])]


def singular_vectors(s: Normalised, width: int, shards: Shards = ALONE) -> np.ndarray:
    """V = S U Σ / Σ², (N, ``width``) or fewer columns, of a symmetric S ≈ U Σ Vᵀ, (N, N)."""
    if s.shape[0] > MANY_ROWS:
        return krylov_vectors(s, width, symmetric=True, shards=shards)
    leading = svd(s, min(width, s.shape[0] - 1), seed=0, rounds=FEW_ROUNDS, symmetric=True, shards=shards)
    squares = np.maximum(shards.sum(np.einsum("ij,ij->j", leading, leading)), np.finfo(np.float32).tiny)
    found = multiply_sparse(s, leading)
    return np.divide(found, squares, out=found)
