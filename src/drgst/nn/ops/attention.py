"""Multi-head attention over the edges of a graph: a softmax per row and a product with learnt edge values.

Edge values are (H, E). All heads are one block-diagonal CSR product, so no (E, D) array of messages is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional as F

from drgst.nn.ops.sparse import SparseMatrix, multiply
from drgst.transforms.products import csr_tensor

SLOPE = 0.2  # of LeakyReLU for negative inputs


class Edges:
    """The pattern of an (N, N) matrix, repeated for H heads as the diagonal blocks of one (HN, HN) matrix."""

    def __init__(self, matrix: SparseMatrix, heads: int) -> None:
        pattern, device = matrix.scipy, matrix.device
        self.heads, self.nodes, self.count = heads, pattern.shape[0], pattern.nnz
        rows = np.repeat(np.arange(self.nodes), np.diff(pattern.indptr))
        self.rows = torch.from_numpy(rows).to(device)
        self.cols = torch.from_numpy(pattern.indices.astype(np.int64)).to(device)
        numbered = sp.csr_array((np.arange(self.count), pattern.indices, pattern.indptr), shape=pattern.shape)
        turned = numbered.T.tocsr()
        self.order = torch.from_numpy(turned.data).to(device)  # positions of the edges sorted by column
        self._forward = self._blocks(pattern, device)
        self._backward = self._forward if matrix.symmetric else self._blocks(turned, device)

    def _blocks(self, pattern: sp.csr_array, device: torch.device) -> tuple[Tensor, Tensor]:
        small = self.heads * max(self.count, self.nodes) < 2**31
        shift = np.arange(self.heads)[:, None]
        crow = np.append((pattern.indptr[:-1] + shift * self.count).ravel(), self.heads * self.count)
        col = (pattern.indices + shift * self.nodes).ravel()
        kind = torch.int32 if small else torch.int64  # products with 32-bit indices are faster
        return torch.from_numpy(crow).to(device, kind), torch.from_numpy(col).to(device, kind)

    def matrix(self, values: Tensor) -> Tensor:
        """P with the (H, E) ``values``, a torch CSR matrix (HN, HN)."""
        return self._csr(self._forward, values)

    def transposed(self, values: Tensor) -> Tensor:
        """Pᵀ with the (H, E) ``values``."""
        return self._csr(self._backward, values.index_select(1, self.order))

    def _csr(self, place: tuple[Tensor, Tensor], values: Tensor) -> Tensor:
        size = self.heads * self.nodes
        return csr_tensor(*place, values.reshape(-1), (size, size))

    def sum_at(self, ends: Tensor, values: Tensor) -> Tensor:
        """The sums of (H, E) values over edges with the same end (``rows`` or ``cols``), (H, N)."""
        total = values.new_zeros(self.heads, self.nodes)
        return total.scatter_add_(1, ends.expand(self.heads, -1), values)

    def row_max(self, values: Tensor) -> Tensor:
        """The largest of (H, E) values in each row, (H, N); each row must have an edge."""
        start = values.new_full((self.heads, self.nodes), -torch.inf)
        return start.scatter_reduce_(1, self.rows.expand(self.heads, -1), values, "amax")


def edges_of(matrix: SparseMatrix, heads: int) -> Edges:
    """The edges of ``matrix`` for ``heads`` heads, computed once per matrix."""
    return matrix.derived(("edges", heads), lambda: Edges(matrix, heads))


def edge_softmax(edges: Edges, target: Tensor, source: Tensor) -> Tensor:
    """a_uv = softmax_v(LeakyReLU(target_u + source_v)), (H, N) and (H, N) -> (H, E)."""
    return _Softmax.apply(edges, target, source)


def edge_product(edges: Edges, values: Tensor, x: Tensor) -> Tensor:
    """Y_u = Σ_v a_uv x_v for each head, with a (H, E) and x (H, N, D) -> (H, N, D)."""
    return _EdgeProduct.apply(edges, values, x)


class _Softmax(torch.autograd.Function):
    """dsₑ = aₑ (daₑ - Σ_row a da) · LeakyReLU'; the gradients are its sums over rows and columns."""

    @staticmethod
    def forward(ctx: Any, edges: Edges, target: Tensor, source: Tensor) -> Tensor:
        raw = target.index_select(1, edges.rows) + source.index_select(1, edges.cols)
        score = F.leaky_relu(raw, SLOPE)
        score.sub_(edges.row_max(score).index_select(1, edges.rows)).exp_()
        score.div_(edges.sum_at(edges.rows, score).index_select(1, edges.rows))
        ctx.edges = edges
        ctx.save_for_backward(score, raw < 0)
        return score

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor, Tensor]:
        edges: Edges = ctx.edges
        share, below = ctx.saved_tensors
        flow = share * grads[0]
        flow -= share * edges.sum_at(edges.rows, flow).index_select(1, edges.rows)
        flow = torch.where(below, flow * SLOPE, flow)
        return None, edges.sum_at(edges.rows, flow), edges.sum_at(edges.cols, flow)


class _EdgeProduct(torch.autograd.Function):
    """dX = Pᵀ dY, da_uv = dY_u · x_v."""

    @staticmethod
    def forward(ctx: Any, edges: Edges, values: Tensor, x: Tensor) -> Tensor:
        ctx.edges = edges
        ctx.save_for_backward(values, x)
        return multiply(edges.matrix(values), x.reshape(-1, x.shape[2])).view(x.shape)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor, Tensor]:
        edges: Edges = ctx.edges
        values, x = ctx.saved_tensors
        grad = grads[0].reshape(-1, x.shape[2])
        dx = multiply(edges.transposed(values), grad).view(x.shape)
        return None, _dots(edges, grad, x.reshape(-1, x.shape[2])), dx


def _dots(edges: Edges, left: Tensor, right: Tensor) -> Tensor:
    """left_u · right_v at each edge, (HN, D) and (HN, D) -> (H, E)."""
    if left.device.type != "mps":
        empty = edges.matrix(left.new_zeros(edges.heads, edges.count))
        return torch.sparse.sampled_addmm(empty, left, right.t(), beta=0.0).values().view(edges.heads, -1)
    return gather_dots(edges, left, right)


def gather_dots(edges: Edges, left: Tensor, right: Tensor) -> Tensor:
    """left_u · right_v at each edge without a sparse kernel, one head at a time to save memory."""
    shape = (edges.heads, edges.nodes, left.shape[1])
    pairs = zip(left.view(shape), right.reshape(shape), strict=True)
    return torch.stack([(a[edges.rows] * b[edges.cols]).sum(dim=1) for a, b in pairs])
