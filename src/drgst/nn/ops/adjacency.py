"""The adjacency matrix and its normalised forms."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch

from drgst.nn.ops.sparse import SparseMatrix
from drgst.transforms.propagate import sym_norm


def plain(a: sp.csr_array) -> sp.csr_array:
    """A: the sum over neighbours, (N, N)."""
    return a


def loops(a: sp.csr_array) -> sp.csr_array:
    """[A ≠ 0] + I: the pattern for attention; stored zeros (dropped edges) are left out, (N, N)."""
    edges = sp.csr_array(((a.data != 0).astype(np.float32), a.indices, a.indptr), shape=a.shape)
    both = sp.csr_array(edges + sp.eye_array(a.shape[0], dtype=np.float32, format="csr"))
    both.eliminate_zeros()
    return both


FORMS: dict[str, Callable[[sp.csr_array], sp.csr_array]] = {"sym": sym_norm, "plain": plain, "loops": loops}


class Adjacency:
    """A with its normalised forms, each computed when it is first used.

    :meth:`restrict` slices the forms of the whole graph, so that nodes keep their degrees: the forms are exact for all
    nodes whose neighbours are inside.
    """

    def __init__(self, matrix: sp.csr_array, device: torch.device | str = "cpu", symmetric: bool = True) -> None:
        self.matrix = matrix
        self.device = torch.device(device)
        self.symmetric = symmetric
        self._forms: dict[str, SparseMatrix] = {}

    @property
    def num_nodes(self) -> int:
        return self.matrix.shape[0]

    def form(self, name: str) -> SparseMatrix:
        """The form ``"sym"``, ``"plain"`` or ``"loops"``."""
        if name not in self._forms:
            self._forms[name] = self._make(name)
        return self._forms[name]

    def _make(self, name: str) -> SparseMatrix:
        return SparseMatrix(FORMS[name](self.matrix), self.device, self.symmetric)

    @property
    def sym(self) -> SparseMatrix:
        return self.form("sym")

    @cached_property
    def edges(self) -> tuple[torch.Tensor, torch.Tensor]:
        """PyG's ``edge_index`` (2, E), source above target, and weights (E,).

        A_uv is the edge from v to u, so that PyG sums over v for each target u as A X does. Stored zeros (dropped
        edges) are left out.
        """
        kept = self.matrix.data != 0
        target = np.repeat(np.arange(self.num_nodes), np.diff(self.matrix.indptr))[kept]
        index = np.stack([self.matrix.indices[kept].astype(np.int64), target])
        weights = np.array(self.matrix.data[kept], dtype=np.float32)
        return torch.from_numpy(index).to(self.device), torch.from_numpy(weights).to(self.device)

    @cached_property
    def weighted(self) -> bool:
        """Whether the weight of an edge differs from 1; dropped edges do not count."""
        return bool(((self.matrix.data != 1) & (self.matrix.data != 0)).any())

    def restrict(self, nodes: np.ndarray) -> Adjacency:
        """The subgraph of ``nodes``, with the degrees of the whole graph."""
        return _Restricted(self, nodes)

    def pruned(self, rows: np.ndarray, differentiated: np.ndarray) -> Adjacency:
        """The forms with the edges of some nodes only, see :meth:`SparseMatrix.pruned`; (N,) masks."""
        return _Pruned(self, rows, differentiated)

    def drop(self, rate: float, rng: np.random.Generator) -> Adjacency:
        """A ∘ Z with independent Z_uv ~ Bernoulli(1 - rate) for each directed edge (Eq. dropedge)."""
        kept = self.matrix.data * (rng.random(self.matrix.nnz, dtype=np.float32) >= rate)
        sampled = sp.csr_array((kept, self.matrix.indices, self.matrix.indptr), shape=self.matrix.shape)
        return Adjacency(sampled, self.device, symmetric=False)

    def hops(self, nodes: np.ndarray, depth: int) -> np.ndarray:
        """All nodes within ``depth`` hops of ``nodes``, sorted."""
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
    """Slices of the forms of another adjacency."""

    def __init__(self, parent: Adjacency, nodes: np.ndarray) -> None:
        super().__init__(parent.matrix[nodes][:, nodes], parent.device, parent.symmetric)
        self._parent, self._nodes = parent, nodes

    def _make(self, name: str) -> SparseMatrix:
        return self._parent.form(name).block(self._nodes)


class _Pruned(Adjacency):
    """The forms of another adjacency without the rows that a product does not need."""

    def __init__(self, parent: Adjacency, rows: np.ndarray, differentiated: np.ndarray) -> None:
        super().__init__(parent.matrix, parent.device, parent.symmetric)
        self._parent, self._rows, self._differentiated = parent, rows, differentiated

    def _make(self, name: str) -> SparseMatrix:
        return self._parent.form(name).pruned(self._rows, self._differentiated)
