"""Propagation of the output of an MLP: APPNP, PPNP and DAGNN."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from drgst.errors import SettingError
from drgst.nn.models.base import MLP
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import weight
from drgst.nn.ops.sparse import Hidden, SparseMatrix, multiply, thin_product

LARGEST = 5_000  # nodes of a graph for which PPNP holds a dense (N, N) matrix


class APPNP(MLP):
    """Z⁰ = M, Zᵏ⁺¹ = (1-α) Â Zᵏ + α M, logits = Z^K, with M = dropout(ReLU(dropout(X) W₁ + b₁)) W₂ + b₂.

    K = 10, α = 0.1, dropout 0.5 and 64 hidden units as in the paper (Gasteiger, Bojchevski, Günnemann, ICLR 2019),
    without its dropout on the entries of Â. ``head`` is the last layer with the propagation.
    """

    hops: ClassVar[int] = 10
    depth: int | None = 10
    alpha: ClassVar[float] = 0.1

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        return propagate(adj.sym, self.last(h), self.alpha, self.hops)


class PPNP(APPNP):
    """logits = Π M with Π = α (I - (1-α) Â)^-1 and M as in APPNP: its limit K → ∞, for graphs of up to 5,000 nodes.

    Π is a dense (N, N) matrix that is computed once per graph. For a graph sampled by dropedge, which is used once, the
    linear system is solved for the C columns of M by Zᵏ⁺¹ = (1-α) Â Zᵏ + α M until (1-α)ᵏ < 1e-8.
    """

    depth = None
    hops = math.ceil(math.log(1e-8) / math.log(1 - APPNP.alpha))

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        if not adj.sym.symmetric:
            return super().head(h, adj)
        ppr = adj.sym.derived(("ppr", self.alpha), lambda: ppr_matrix(adj.sym, self.alpha))
        return (self.last(h).t() @ ppr).t()  # Π = Πᵀ, and a product with few rows is faster than with few columns


class DAGNN(MLP):
    """logits = Σ_k σ(Âᵏ M s) ∘ Âᵏ M for k = 0 … K, with M = dropout(ReLU(dropout(X) W₁ + b₁)) W₂ + b₂.

    The learnt vector s (C,) weighs each hop of each node (Liu, Gao, Ji, KDD 2020). K = 10, 64 hidden units, dropout 0.8
    and weight decay 0.005 as its authors use on Cora. ``head`` is the last layer with propagation and gates.
    """

    hops: ClassVar[int] = 10
    depth = 10

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.8, start: str = "glorot"
    ) -> None:
        super().__init__(features, classes, hidden, dropout, start)
        self.gate = weight(start, classes, 1)

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        z = self.last(h)
        total = self._gated(z)
        for _ in range(self.hops):
            z = adj.sym @ z
            total = total + self._gated(z)
        return total

    def _gated(self, z: Tensor) -> Tensor:
        return torch.sigmoid(thin_product(z, self.gate)) * z


def ppr_matrix(sym: SparseMatrix, alpha: float) -> Tensor:
    """Π = α (I - (1-α) Â)^-1, dense (N, N), inverted in float64."""
    count = sym.shape[0]
    if count > LARGEST:
        raise SettingError(f"ppnp holds a dense {count:,} x {count:,} matrix (allowed: {LARGEST:,} nodes; use appnp)")
    dense = torch.from_numpy(sym.scipy.toarray()).double()
    system = torch.eye(count, dtype=torch.float64) - (1 - alpha) * dense
    return (alpha * torch.linalg.inv(system)).float().to(sym.device)


def propagate(sym: SparseMatrix, start: Tensor, alpha: float, hops: int) -> Tensor:
    """Z^K with Z⁰ = M, Zᵏ⁺¹ = (1-α) Â Zᵏ + α M, (N, C)."""
    return _Propagation.apply(sym, start, alpha, hops)


class _Propagation(torch.autograd.Function):
    """Z^K = P(Â) M for a polynomial P, so dM = P(Âᵀ) dZ^K, and no intermediate Zᵏ is stored."""

    @staticmethod
    def forward(ctx: Any, sym: SparseMatrix, start: Tensor, alpha: float, hops: int) -> Tensor:
        ctx.sym, ctx.alpha, ctx.hops = sym, alpha, hops
        return _iterate(partial(multiply, sym.forward_csr), start, alpha, hops)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor, None, None]:
        return None, _iterate(ctx.sym.transposed_product, grads[0], ctx.alpha, ctx.hops), None, None


def _iterate(product: Callable[[Tensor], Tensor], start: Tensor, alpha: float, hops: int) -> Tensor:
    z, restart = start, alpha * start
    for _ in range(hops):
        z = product(z).mul_(1 - alpha).add_(restart)
    return z
