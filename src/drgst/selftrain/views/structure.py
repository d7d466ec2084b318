"""The view ``structure``: positions of nodes by the edges alone."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.views.base import Term, View, reach_of
from drgst.selftrain.views.shared import Shared
from drgst.transforms.products import multiply_sparse
from drgst.transforms.propagate import sym_norm_without_loops


class Structure(View):
    """Centred unit rows of S V, S = D^-½ A D^-½ ≈ U Σ Vᵀ, (N, 64); of new nodes by their edges to fitted ones."""

    name = "structure"
    needs_edges = of_nodes = True

    def make(self, shared: Shared) -> np.ndarray:
        s = sym_norm_without_loops(shared.adjacency, shared.shards)
        v = shared.of_nodes(self.vectors, shared.edge_vectors)
        s = s if shared.fitted_nodes == s.shape[0] else s[:, : shared.fitted_nodes]
        return shared.centred(self.name, multiply_sparse(s, v))

    def terms(self, shared: Shared, node: int) -> list[Term]:
        s = sym_norm_without_loops(shared.graph.adjacency)
        reach, usual = (s @ start for start in reach_of(node, s.shape[0]))  # S is symmetric
        return [Term.of_unit(reach, usual, shared.maps.arrays[f"{self.name}.vectors"])]
