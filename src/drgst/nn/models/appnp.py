"""APPNP and PPNP (Gasteiger, Bojchevski, Günnemann, Predict then Propagate, ICLR 2019)."""

from __future__ import annotations

import math
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from drgst.errors import SettingError
from drgst.nn.models.base import Backbone, Hidden
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import Linear
from drgst.nn.ops.sparse import SparseMatrix, multiply
from drgst.nn.random import Dropout

LARGEST = 5_000  # nodes of a graph whose dense (N, N) matrix PPNP accepts to hold


class APPNP(Backbone):
    """Z⁰ = M, Zᵏ⁺¹ = (1-α) Â Zᵏ + α M, logits = Z^K, with M = dropout(ReLU(dropout(X) W₁ + b₁)) W₂ + b₂.

    K = 10, α = 0.1, dropout 0.5 on the features and between the layers, 64 hidden units, as in the paper; its
    dropout of Â's entries is left out. ``head`` is the last layer with the whole propagation.
    """

    random_hidden: ClassVar[bool] = True

    def __init__(
        self,
        features: int,
        classes: int,
        hidden: int = 64,
        dropout: float = 0.5,
        start: str = "glorot",
        hops: int = 10,
        alpha: float = 0.1,
    ) -> None:
        super().__init__(dropout)
        if hops < 1:
            raise SettingError(f"hops is {hops} (allowed: 1 or more)")
        if not 0 < alpha <= 1:
            raise SettingError(f"alpha is {alpha} (allowed: above 0, up to 1)")
        self.hops, self.alpha, self.depth = hops, alpha, hops
        self.input_drop = Dropout(dropout)
        self.first = Linear(features, hidden, start)
        self.last = Linear(hidden, classes, start)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:  # noqa: ARG002
        """ReLU(dropout(X) W₁ + b₁), (N, D)."""
        return self.first(self.input_drop(x)).relu_()

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """Z^K of M = H W₂ + b₂, (N, C)."""
        return propagate(adj.sym, self.last(h), self.alpha, self.hops)


class PPNP(APPNP):
    """logits = Π M with Π = α (I - (1-α) Â)^-1 and M as in APPNP: its limit K → ∞, for graphs of up to 5,000 nodes.

    Π is a dense (N, N) matrix, made once for a graph. A graph that dropedge sampled is used once, so there the
    linear system is solved for the C columns of M, by Zᵏ⁺¹ = (1-α) Â Zᵏ + α M until (1-α)ᵏ < 1e-8.
    """

    def __init__(
        self,
        features: int,
        classes: int,
        hidden: int = 64,
        dropout: float = 0.5,
        start: str = "glorot",
        alpha: float = 0.1,
    ) -> None:
        super().__init__(features, classes, hidden, dropout, start, alpha=alpha)
        self.depth = None
        self.hops = 1 if alpha == 1 else math.ceil(math.log(1e-8) / math.log(1 - alpha))

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """Π (H W₂ + b₂), (N, C)."""
        if not adj.sym.symmetric:
            return super().head(h, adj)
        made = _KNOWN.setdefault(adj.sym, {})
        if self.alpha not in made:
            made[self.alpha] = ppr_matrix(adj.sym, self.alpha)
        return (self.last(h).t() @ made[self.alpha]).t()  # Π = Πᵀ; few rows are quicker than few columns


_KNOWN: WeakKeyDictionary[SparseMatrix, dict[float, Tensor]] = WeakKeyDictionary()  # Π lives as long as its graph


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
    """Z^K = P(Â) M for a polynomial P, so dM = P(Âᵀ) dZ^K: nothing of the hops between is kept."""

    @staticmethod
    def forward(ctx: Any, sym: SparseMatrix, start: Tensor, alpha: float, hops: int) -> Tensor:
        ctx.sym, ctx.alpha, ctx.hops = sym, alpha, hops
        return _iterate(sym.forward_csr, start, alpha, hops)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor, None, None]:
        return None, _iterate(ctx.sym.backward_csr, grads[0], ctx.alpha, ctx.hops), None, None


def _iterate(matrix: Tensor, start: Tensor, alpha: float, hops: int) -> Tensor:
    z, restart = start, alpha * start
    for _ in range(hops):
        z = multiply(matrix, z).mul_(1 - alpha).add_(restart)
    return z
