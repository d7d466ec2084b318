"""Features of nodes from the edges alone, fitted to one graph and applied to others with the same nodes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from drgst.errors import GraphError
from drgst.graph.core import Graph
from drgst.transforms.features import FEW_ROUNDS, row_l2, svd
from drgst.transforms.propagate import sym_norm_without_loops

SPECTRAL = 64  # leading singular vectors, as in the view "structure" of drgst-plus
COLUMNS = SPECTRAL + 1
DIFFERENT = 0.1  # share of nodes that lost, and share that gained neighbours: above both it is another graph


@dataclass(frozen=True, eq=False)
class StructureMap:
    """[centred unit rows of U_k Σ_k of S = D^-½ A D^-½, normalised log(1 + degree)], (N, 65) float32.

    k = 64, or N - 1 where that is less; the columns that are missing are zero, so that every graph has 65. On another
    graph, nodes are recognised by their ids and keep their rows; the row of a new node u is Σ_v S_uv V_v over its
    neighbours v that were fitted, as U Σ = S V. Singular vectors of a graph without these nodes would be in another
    basis, so it is refused.
    """

    keys: np.ndarray  # of the node ids, (N,)
    degrees: np.ndarray  # (N,)
    rows: np.ndarray  # U Σ, (N, k)
    signs: np.ndarray  # V = U ∘ signs, (k,): S is symmetric
    degree_scale: np.ndarray  # mean and standard deviation of log(1 + degree), (2,)

    @classmethod
    def fit(cls, graph: Graph) -> StructureMap:
        s, count = sym_norm_without_loops(graph.adjacency), graph.num_nodes
        rows = np.zeros((count, 0), dtype=np.float32)
        if count > 1 and graph.adjacency.nnz:
            rows = svd(s, min(SPECTRAL, count - 1), seed=0, rounds=FEW_ROUNDS)
        signs = np.where(np.einsum("ij,ij->j", rows, np.asarray(s @ rows)) < 0, -1, 1).astype(np.float32)
        degrees = np.diff(graph.adjacency.indptr)
        log_degree = np.log1p(degrees)
        scale = np.array([log_degree.mean(), log_degree.std()]) if count else np.zeros(2)
        return cls(_keys(graph), degrees.astype(np.int64), rows, signs, scale)

    def __call__(self, graph: Graph) -> np.ndarray:
        place, known = self._places(graph)
        rows = np.zeros((graph.num_nodes, self.rows.shape[1]), dtype=np.float32)
        rows[known] = self.rows[place[known]]
        if not known.all():
            lengths = np.maximum(np.linalg.norm(self.rows, axis=0), np.finfo(np.float32).tiny)
            v = rows * (self.signs / lengths)
            rows[~known] = sym_norm_without_loops(graph.adjacency)[~known] @ v
        out = np.zeros((graph.num_nodes, COLUMNS), dtype=np.float32)
        if rows.shape[1]:
            out[:, : rows.shape[1]] = row_l2(rows - self.rows.mean(axis=0))
        mean, spread = self.degree_scale
        out[:, SPECTRAL] = (np.log1p(np.diff(graph.adjacency.indptr)) - mean) / spread if spread > 0 else 0.0
        return out

    def _places(self, graph: Graph) -> tuple[np.ndarray, np.ndarray]:
        """The fitted node with the id of each node of ``graph``, and whether there is one, (N,) each."""
        keys, order = _keys(graph), np.argsort(self.keys, kind="stable")
        place = order[np.minimum(np.searchsorted(self.keys, keys, sorter=order), order.size - 1)]
        known = self.keys[place] == keys
        change = np.diff(graph.adjacency.indptr)[known] - self.degrees[place[known]]
        if not known.any() or min((change > 0).mean(), (change < 0).mean()) > DIFFERENT:
            raise GraphError(
                "the network was fitted to structural features, which say nothing about another graph: it predicts on "
                "graphs with the nodes, by id, that it was fitted on"
            )
        return place, known


def _keys(graph: Graph) -> np.ndarray:
    """A 64-bit hash of each node id, (N,)."""
    digests = (hashlib.blake2b(str(name).encode(), digest_size=8).digest() for name in graph.node_ids.tolist())
    return np.frombuffer(b"".join(digests), dtype=np.int64)
