"""The adjacency of nodes that share entities, as a product of incidences that is never formed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError
from drgst.graph.core import Graph
from drgst.shards import ALONE, Shards
from drgst.transforms.divided import DividedMatrix
from drgst.transforms.products import multiply_sparse

EDGES = "edges"  # beside relations
MOST_PAIRS = 10_000_000  # of nodes that share an entity, up to which they become edges
PROBES = 64  # random vectors that estimate the lengths of rows: the error of a length is about 9 %


@dataclass(frozen=True, eq=False)
class Factor:
    """F = B W^½, (N, E), with W_e = 1 / (n_e - 1) for an entity of n_e nodes, 0 where it has one node only.

    So each entity of a node adds 1 to its row of F Fᵀ without the diagonal, shared by the other nodes of the entity:
    an entity that many nodes share tells little of each (docs/guides/relations.md). Where entries of B differ, n_e - 1
    is multiplied by their mean.
    """

    matrix: sp.csr_array  # F, (N, E); with several shards, the rows of this process
    transpose: sp.csr_array  # Fᵀ, (E, N)
    shards: Shards = ALONE

    @classmethod
    def of(cls, b: sp.csr_array, shards: Shards = ALONE) -> Factor:
        members = np.bincount(b.indices, minlength=b.shape[1])
        total = np.bincount(b.indices, b.data, minlength=b.shape[1])
        others = total - total / np.maximum(members, 1)
        weight = np.divide(1.0, others, out=np.zeros_like(others), where=members > 1)
        data = (b.data * np.sqrt(weight)[b.indices]).astype(np.float32)
        matrix = sp.csr_array((data, b.indices, b.indptr), shape=b.shape)
        matrix = matrix if shards.size == 1 else matrix[shards.rows(b.shape[0])]
        return cls(matrix, sp.csr_array(matrix.T), shards)

    @property
    def squares(self) -> np.ndarray:
        """The diagonal of F Fᵀ, (N,)."""
        rows = np.repeat(np.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr))
        return np.bincount(rows, np.square(self.matrix.data, dtype=np.float64), minlength=self.matrix.shape[0])

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        """F Fᵀ X."""
        return multiply_sparse(self.matrix, self.shards.sum(multiply_sparse(self.transpose, x)))


@dataclass(frozen=True, eq=False)
class LinkMatrix:
    """diag(l) (A + I) diag(r), (N, N), A = Σ_r F_r F_rᵀ without its diagonal + the adjacency of edges, if any.

    Where the rows of F_r are divided among several shards, so are those of the adjacency, l, r and X.
    """

    left: np.ndarray  # l, (N,) float32
    factors: tuple[Factor, ...]
    edges: sp.csr_array | DividedMatrix | None
    diagonal: np.ndarray  # of I minus that of Σ_r F_r F_rᵀ, (N,) float32
    right: np.ndarray  # r, (N,) float32

    @classmethod
    def of(cls, factors: Sequence[Factor], edges: sp.csr_array | DividedMatrix | None = None) -> LinkMatrix:
        """A + I."""
        diagonal = np.asarray(1 - sum(factor.squares for factor in factors), dtype=np.float32)
        ones = np.ones(diagonal.size, dtype=np.float32)
        return cls(ones, tuple(factors), edges, diagonal, ones)

    def normalised(self) -> LinkMatrix:
        """Â = D̃^-½ (A + I) D̃^-½ with D̃ the row sums of A + I, as of edges (:func:`~.propagate.sym_norm`)."""
        degrees = np.maximum((self @ np.ones((self.left.size, 1), dtype=np.float32))[:, 0], 1)
        root = (1 / np.sqrt(degrees)).astype(np.float32)
        return LinkMatrix(root, self.factors, self.edges, self.diagonal, root)

    def unit_rows(self) -> LinkMatrix:
        """A + I with rows of about unit length: ‖a_u‖² = E (a_u · g)² over vectors g of random signs, of which 64."""
        g = np.random.default_rng(0).choice(np.array([-1, 1], dtype=np.float32), size=(self.shape[0], PROBES))
        squares = np.square(self @ g[self.factors[0].shards.rows(len(g))]).mean(axis=1)
        length = np.sqrt(np.maximum(squares, 1)).astype(np.float32)  # at least that of I
        return LinkMatrix(1 / length, self.factors, self.edges, self.diagonal, self.right)

    @property
    def shape(self) -> tuple[int, int]:
        count = int(self.factors[0].shards.sum(np.array(self.left.size)))
        return count, count

    @property
    def nnz(self) -> int:
        """Stored entries that a product reads."""
        return sum(2 * factor.matrix.nnz for factor in self.factors) + (0 if self.edges is None else self.edges.nnz)

    @property
    def T(self) -> LinkMatrix:
        return LinkMatrix(self.right, self.factors, self.edges, self.diagonal, self.left)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        """Of (N, D), as float32."""
        x = np.asarray(x, dtype=np.float32) * self.right[:, None]
        found = self.diagonal[:, None] * x
        for factor in self.factors:
            found += factor @ x
        if self.edges is not None:
            found += multiply_sparse(self.edges, x)
        found *= self.left[:, None]
        return found


def with_links_as_edges(graph: Graph, weights: Mapping[str, float]) -> Graph:
    """The graph without relations, whose edges are w A + Σ_r w_r F_r F_rᵀ without the diagonal: for methods of edges.

    ``weights`` are w of ``edges``, and w_r by name; 1 where they are not given. Refused where the nodes that share an
    entity form more than 10 million pairs.
    """
    a = graph.adjacency * np.float32(weights.get(EDGES, 1.0))
    for relation in graph.relations:
        n = relation.members.astype(np.int64)
        pairs = int((n * (n - 1)).sum()) // 2
        if pairs > MOST_PAIRS:
            largest = str(relation.entities[int(n.argmax())])
            raise GraphError(
                f"the relation {relation.name!r} has {pairs:,} pairs of nodes ({n.max():,} nodes share {largest!r}), "
                f"too many to be edges ({MOST_PAIRS:,} are allowed); the recipe drgst-plus never forms them"
            )
        factor = Factor.of(relation.incidence)
        formed = sp.csr_array(factor.matrix @ factor.transpose) * np.float32(weights.get(relation.name, 1.0))
        a = a + formed - sp.diags_array(formed.diagonal(), format="csr")
    a = sp.csr_array(a, dtype=np.float32)
    a.eliminate_zeros()
    return graph.with_(adjacency=sp.csr_array(a.maximum(a.T)), relations=())
