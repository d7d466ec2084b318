"""The adjacency as the networks see it: one CSR matrix and its normalised forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import torch

from drgst.graph.transforms.normalise import laplacian_norm, mean_norm, sym_norm
from drgst.nn.ops.sparse import SparseMatrix

Form = Callable[[sp.csr_array], sp.csr_array]


def plain(a: sp.csr_array) -> sp.csr_array:
    """A itself: the sum over neighbours, (N, N)."""
    return a


def loops(a: sp.csr_array) -> sp.csr_array:
    """[A ≠ 0] + I: the pattern alone, for attention; an edge that was dropped (a stored zero) is none, (N, N)."""
    edges = sp.csr_array(((a.data != 0).astype(np.float32), a.indices, a.indptr), shape=a.shape)
    both = (edges + sp.eye_array(a.shape[0], dtype=np.float32, format="csr")).tocsr()
    both.eliminate_zeros()
    return both


FORMS: dict[str, Form] = {
    "sym": sym_norm,
    "mean": mean_norm,
    "laplacian": laplacian_norm,
    "plain": plain,
    "loops": loops,
}
SYMMETRIC = {"sym", "laplacian", "plain", "loops"}


class Adjacency:
    """A with its normalised forms, each made when first asked for.

    A restricted adjacency (:meth:`restrict`) slices the forms of the whole graph, so that a node inside keeps
    the degree it has in the whole graph; the forms stay exact for every node whose neighbours are inside.
    """

    def __init__(
        self, matrix: sp.csr_array, device: torch.device | str = "cpu", symmetric: bool = True, whole: bool = True
    ) -> None:
        self.matrix = matrix
        self.device = torch.device(device)
        self.symmetric = symmetric
        self.whole = whole
        self._forms: dict[str, SparseMatrix] = {}

    @property
    def num_nodes(self) -> int:
        """N."""
        return self.matrix.shape[0]

    def form(self, name: str) -> SparseMatrix:
        """The form ``"sym"``, ``"mean"``, ``"laplacian"``, ``"plain"`` or ``"loops"``."""
        if name not in self._forms:
            self._forms[name] = self._make(name)
        return self._forms[name]

    def _make(self, name: str) -> SparseMatrix:
        return SparseMatrix(FORMS[name](self.matrix), self.device, self.symmetric and name in SYMMETRIC)

    @property
    def sym(self) -> SparseMatrix:
        """Â, see :func:`~drgst.graph.transforms.normalise.sym_norm`."""
        return self.form("sym")

    def restrict(self, nodes: np.ndarray) -> Adjacency:
        """The part between ``nodes``, with the degrees of the whole graph."""
        return _Restricted(self, nodes)

    def drop(self, rate: float, rng: np.random.Generator) -> Adjacency:
        """A ∘ Z with Z_uv ~ Bernoulli(1 - rate) for every directed edge on its own (Eq. dropedge)."""
        kept = self.matrix.data * (rng.random(self.matrix.nnz, dtype=np.float32) >= rate)
        sampled = sp.csr_array((kept, self.matrix.indices, self.matrix.indptr), shape=self.matrix.shape)
        return Adjacency(sampled, self.device, symmetric=False)

    def hops(self, nodes: np.ndarray, depth: int) -> np.ndarray:
        """All nodes within ``depth`` steps of ``nodes``, sorted."""
        inside = np.zeros(self.num_nodes, dtype=bool)
        inside[nodes] = True
        front = np.flatnonzero(inside)
        for _ in range(depth):
            near = np.unique(self.matrix[front].indices)
            front = near[~inside[near]]
            if not front.size:
                break
            inside[front] = True
        return np.flatnonzero(inside)


class _Restricted(Adjacency):
    """Slices of a parent's forms."""

    def __init__(self, parent: Adjacency, nodes: np.ndarray) -> None:
        super().__init__(parent.matrix[nodes][:, nodes], parent.device, parent.symmetric, whole=False)
        self._parent, self._nodes = parent, nodes

    def _make(self, name: str) -> SparseMatrix:
        return self._parent.form(name).block(self._nodes)
