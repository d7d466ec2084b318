"""The networks: GCN, GAT and APPNP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from drgst.errors import SettingError
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.attention import edge_product, edge_softmax, edges_of
from drgst.nn.ops.layers import Dropout, Linear, bias, weight
from drgst.nn.ops.sparse import Hidden, SparseMatrix, multiply, thin_product


class Backbone(nn.Module):
    """logits = head(dropout(hidden(X, A)), A): ``head`` is the last layer and ``hidden`` everything before it.

    MC-dropout drops entries of h = hidden(X, A), and MC-dropedge drops edges of A in ``head``.
    """

    depth: int | None = None  # hops that the logits of a node depend on, None for all: a training uses these nodes only
    one_hop_layers: ClassVar[bool] = False  # whether ``hidden`` and ``head`` use A in one product each
    random_hidden: ClassVar[bool] = False  # whether ``hidden`` has dropout; if not, evaluation and training share it
    estimators: ClassVar[frozenset[Any]] = frozenset({"dropout", "dropedge"})  # supported noise in the last layer

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.drop = Dropout(dropout)

    def hidden(self, x: Hidden, adj: Adjacency) -> Hidden:
        """Everything before the last layer, (N, D)."""
        raise NotImplementedError

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """The last layer, (N, C) logits."""
        raise NotImplementedError

    def forward(self, x: Hidden, adj: Adjacency) -> Tensor:
        """(N, C) logits, with dropout before the last layer in training."""
        return self.head(self.drop(self.hidden(x, adj)), adj)


class InputDropout(Backbone):
    """A backbone with dropout on the features, too: logits = head(dropout(hidden(dropout(X), A)), A)."""

    random_hidden: ClassVar[bool] = True

    def __init__(self, dropout: float) -> None:
        super().__init__(dropout)
        self.input_drop = Dropout(dropout)


class GCN(Backbone):
    """logits = Â dropout(ReLU(Â X W₁ + b₁)) W₂ + b₂ with Â = D̃^-½ (A + I) D̃^-½ (Kipf, Welling, ICLR 2017).

    The backbone of the paper. Dropout is between the layers only, so that the first layer of an evaluation is also the
    first layer of the next training step. The published program initialises with ``start="uniform"``.
    """

    depth = 2
    one_hop_layers = True

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.5, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        self.weight1 = weight(start, features, hidden)
        self.weight2 = weight(start, hidden, classes)
        self.bias1 = bias(start, hidden)
        self.bias2 = bias(start, classes)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        return (adj.sym @ (x @ self.weight1)).add_(self.bias1).relu_()

    def product(self, h: Hidden) -> Tensor:
        """M = H W₂, (N, C), which dropedge does not change."""
        return thin_product(h, self.weight2)

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        return adj.sym @ self.product(h) + self.bias2


HEADS = 8


class GAT(InputDropout):
    """logits = layer₂(dropout(ELU(layer₁(dropout(X))))), layer(H)_u = ‖_heads Σ_v dropout(a_uv) (H W)_v + b.

    a_uv = softmax of LeakyReLU(t · (H W)_u + s · (H W)_v) over u and its neighbours, slope 0.2 (Veličković et al.,
    ICLR 2018). 8 heads of hidden / 8 units, one head in the last layer, dropout 0.6 on features, hidden layer and
    attention, learning rate 0.005, as in the paper. Attention replaces edge weights; edges of weight 0 are ignored.
    """

    depth = 2

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.6, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        if hidden % HEADS:
            raise SettingError(f"gat's hidden size {hidden} can't be shared among {HEADS} heads (allowed: a multiple)")
        self.first = _GATLayer(features, hidden, HEADS, dropout, start)
        self.last = _GATLayer(hidden, classes, 1, dropout, start)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        return F.elu(self.first(self.input_drop(x), adj))

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        return self.last(h, adj)


class _GATLayer(nn.Module):
    """‖_heads Σ_v dropout(a_uv) (H W)_v + b, (N, F) -> (N, D)."""

    def __init__(self, inputs: int, outputs: int, heads: int, dropout: float, start: str) -> None:
        super().__init__()
        self.heads = heads
        self.linear = Linear(inputs, outputs, start)
        ends = [weight(start, heads, outputs // heads).detach() for _ in range(2)]
        self.ends = nn.Parameter(torch.stack(ends, dim=2))  # t and s of each head, (H, D/H, 2)
        self.drop = Dropout(dropout)

    def forward(self, h: Hidden, adj: Adjacency) -> Tensor:
        product = self.linear.product(h)
        nodes, width = product.shape
        x = product.view(nodes, self.heads, -1).transpose(0, 1).contiguous()  # (H, N, D/H)
        target, source = torch.bmm(x, self.ends).unbind(dim=2)
        edges = edges_of(adj.form("loops"), self.heads)
        attention = self.drop(edge_softmax(edges, target, source))
        return edge_product(edges, attention, x).transpose(0, 1).reshape(nodes, width) + self.linear.bias


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
