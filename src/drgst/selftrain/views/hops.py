"""The view ``hops``: own features beside the means of neighbours and of their neighbours."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.views.base import Term, View, reach_of
from drgst.selftrain.views.shared import Shared
from drgst.transforms.products import (
    gram,
    leading_eigenvectors,
    multiply_rows,
    multiply_sparse,
    release,
    sample_of_rows,
)
from drgst.transforms.propagate import mean_norm

HOPS = ("x", "first", "second")


class Hops(View):
    """[X, D^-1 A X, (D^-1 A)² X] / √3, each part with centred unit rows, reduced to the leading columns of its SVD.

    A classifier may let a neighbour count against a class, so the view suits graphs whose edges join unlike nodes.
    """

    name = "hops"
    needs_features = needs_edges = True
    saved = tuple(f"{part}.mean" for part in HOPS)

    def make(self, shared: Shared) -> np.ndarray:
        z = self._parts(shared)
        if z.shape[1] <= shared.columns:
            return z

        def vectors() -> np.ndarray:
            square = gram(sample_of_rows(z, shared.shards), shared.shards)  # Zᵀ Z = V Σ² Vᵀ
            return leading_eigenvectors(square, shared.columns)

        weight = shared.maps.learn(f"{self.name}.columns", vectors)
        return multiply_rows(z, weight, shared.empty((z.shape[0], shared.columns), self.name))

    def _parts(self, shared: Shared) -> np.ndarray:
        mean, x = mean_norm(shared.adjacency, shared.shards), shared.table
        width = x.shape[1]
        z = shared.empty((x.shape[0], len(HOPS) * width), "all hops")
        for k, part in enumerate(HOPS):
            x = multiply_sparse(mean, x) if k else x
            shared.centred(f"{self.name}.{part}", x, z[:, k * width : (k + 1) * width], np.sqrt(1 / len(HOPS)))
            release(z)
        return z

    def terms(self, shared: Shared, node: int) -> list[Term]:
        mean, x, found = mean_norm(shared.graph.adjacency).T, shared.table, []
        reach, usual = reach_of(node, x.shape[0])
        columns = np.eye(len(HOPS) * x.shape[1], dtype=np.float32)
        columns = shared.maps.arrays.get(f"{self.name}.columns", columns)
        for k in range(len(HOPS)):
            if k:
                reach, usual = mean @ reach, mean @ usual
            unit = Term.of_unit(reach, usual, x).weight / np.float32(np.sqrt(len(HOPS)))
            found.append(Term(reach, usual, x, unit @ columns[k * x.shape[1] : (k + 1) * x.shape[1]]))
        return found
