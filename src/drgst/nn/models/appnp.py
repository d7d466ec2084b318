"""Propagation of the output of an MLP: APPNP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from drgst.nn.models.base import InputDropout
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import Linear
from drgst.nn.ops.sparse import Hidden, SparseMatrix, multiply


class APPNP(InputDropout):
    """Z⁰ = M, Zᵏ⁺¹ = (1-α) Â Zᵏ + α M, logits = Z^K, with M = dropout(ReLU(dropout(X) W₁ + b₁)) W₂ + b₂.

    K = 10, α = 0.1, dropout 0.5 and 64 hidden units as in the paper (Gasteiger, Bojchevski, Günnemann, ICLR 2019),
    without its dropout on the entries of Â. ``head`` is the last layer with the propagation.
    """

    hops: ClassVar[int] = 10
    depth = 10
    alpha: ClassVar[float] = 0.1

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.5, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        self.first = Linear(features, hidden, start)
        self.last = Linear(hidden, classes, start)

    def hidden(self, x: Hidden, _adj: Adjacency) -> Tensor:
        return self.first(self.input_drop(x)).relu_()

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        return propagate(adj.sym, self.last(h), self.alpha, self.hops)


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
