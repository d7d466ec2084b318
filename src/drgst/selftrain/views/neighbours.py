"""The view ``neighbours``: the neighbours of a node as its features, propagated along the edges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.selftrain.views.base import PropagatedView
from drgst.selftrain.views.shared import Shared
from drgst.transforms.features import idf_of, project, projection, row_l2, scale_columns
from drgst.transforms.products import ScaledMatrix


class Neighbours(PropagatedView):
    """S = Â, X = TF-IDF of A + I with unit rows, reduced to its leading columns: a node's neighbours are its words.

    Rows of Π X are longer the more edges a node has. Centred, those of all nodes with few edges would be nearly the
    same (experiment 041).
    """

    name = "neighbours"
    needs_edges = of_nodes = True
    homophily_by = "structure"
    centred = False

    def table(self, shared: Shared) -> np.ndarray:
        """The reduced words; only nodes of the fitted graph are words."""
        a, arrays, fitted = shared.graph.adjacency, shared.maps.arrays, shared.fitted_nodes == shared.graph.num_nodes
        idf = shared.maps.learn(f"{self.name}.idf", lambda: neighbour_idf(a))
        x = scaled_neighbour_words(a, shared.edges, idf) if shared.large and fitted else neighbour_words(a, idf)
        if f"{self.name}.vectors" not in arrays:
            vectors = projection(x, shared.columns)
            arrays[f"{self.name}.vectors"] = np.zeros((0, 0), np.float32) if vectors is None else vectors
        vectors = arrays[f"{self.name}.vectors"]
        table = project(x, vectors if vectors.size else None)
        return table[:, shared.shards.columns(table.shape[1])]


def neighbour_idf(a: sp.csr_array) -> np.ndarray:
    """The idf of the columns of A + I, (N,) float32; A is symmetric with a zero diagonal."""
    return idf_of(np.diff(a.indptr) + 1, a.shape[0])


def neighbour_words(a: sp.csr_array, idf: np.ndarray) -> sp.csr_array:
    """TF-IDF of A + I with unit rows, (N, F), for F values of ``idf``: the first F columns."""
    words = sp.csr_array(a + sp.eye_array(a.shape[0], dtype=np.float32, format="csr"))
    words = words if idf.size == words.shape[0] else sp.csr_array(words[:, : idf.size])
    return row_l2(scale_columns(words, idf))


def scaled_neighbour_words(a: sp.csr_array, edges: sp.csr_array, idf: np.ndarray) -> ScaledMatrix:
    """:func:`neighbour_words` of all columns, (N, N), as a scaled D^-½ (A + I) D^-½ = ``edges``."""
    roots = np.sqrt(1 + np.asarray(a.sum(axis=1), dtype=np.float32).ravel())
    squared = sp.csr_array((a.data * a.data, a.indices, a.indptr), shape=a.shape)
    lengths = np.sqrt((squared @ (idf * idf) + idf * idf).astype(np.float32))
    return ScaledMatrix(roots / lengths, edges, roots * idf)
