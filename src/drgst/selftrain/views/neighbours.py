"""The view ``neighbours``: the neighbours of a node as its features, propagated along the edges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.selftrain.views.base import PropagatedView
from drgst.selftrain.views.shared import Shared
from drgst.shards import ALONE, Shards
from drgst.transforms.features import idf_of, project, projection, row_l2, scale_columns
from drgst.transforms.products import ScaledMatrix
from drgst.transforms.propagate import with_loops


class Neighbours(PropagatedView):
    """S = Â, X = TF-IDF of A + I with unit rows, reduced to its leading columns: a node's neighbours are its words.

    Nodes without neighbours share one word. Words of their own would have no part in the leading columns, and rows of
    unit length would be made of rounding errors (experiment 061).

    Above 100,000 nodes X = TF-IDF · V, with the singular vectors V of the view ``structure``.

    Rows of Π X are longer the more edges a node has. Centred, those of all nodes with few edges would be nearly the
    same (experiment 041).
    """

    name = "neighbours"
    needs_edges = of_nodes = True
    homophily_by = "structure"
    centred = False

    def table(self, shared: Shared) -> np.ndarray:
        """The reduced words; only nodes of the fitted graph are words."""
        shards, arrays, fitted = shared.shards, shared.maps, shared.fitted_nodes == shared.graph.num_nodes
        idf = arrays.learn(f"{self.name}.idf", lambda: neighbour_idf(shared.graph.adjacency))
        scaled = shared.large and fitted
        x = scaled_neighbour_words(shared, idf) if scaled else neighbour_words(shared.adjacency, idf, shards)

        def leading() -> np.ndarray:
            found = shared.edge_vectors() if shared.large else projection(x, shared.columns, shards)
            return np.zeros((0, 0), np.float32) if found is None else found

        vectors = shared.of_nodes(self.vectors, leading) if scaled else arrays.learn(self.vectors, leading)
        return project(x, vectors if vectors.size else None)


def neighbour_idf(a: sp.csr_array) -> np.ndarray:
    """The idf of the columns of A + I, (N,) float32; A is symmetric with a zero diagonal."""
    return idf_of(np.diff(a.indptr) + 1, a.shape[0])


def neighbour_words(a: sp.csr_array, idf: np.ndarray, shards: Shards = ALONE) -> sp.csr_array:
    """TF-IDF of A + I with unit rows, (N, F), for F values of ``idf``: the first F columns.

    The word of all nodes without neighbours is the first of them.
    """
    words = with_loops(a, shards)
    first = shards.all_rows(np.diff(a.indptr), a.shape[1]).argmin()
    words.indices[words.indptr[:-1][np.diff(words.indptr) == 1]] = first
    words = words if idf.size == words.shape[1] else sp.csr_array(words[:, : idf.size])
    return row_l2(scale_columns(words, idf))


def scaled_neighbour_words(shared: Shared, idf: np.ndarray) -> ScaledMatrix:
    """:func:`neighbour_words` of all columns, (N, N), as a scaled D^-½ (A + I) D^-½, the edges of the views."""
    a, own = shared.adjacency, idf[shared.own]
    roots = np.sqrt(1 + np.asarray(a.sum(axis=1), dtype=np.float32).ravel())
    squared = sp.csr_array((a.data * a.data, a.indices, a.indptr), shape=a.shape)
    lengths = np.sqrt((squared @ (idf * idf) + own * own).astype(np.float32))
    return ScaledMatrix(roots / lengths, shared.edges, roots * own)
