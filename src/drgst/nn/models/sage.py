"""GraphSAGE with the mean aggregator (Hamilton, Ying, Leskovec, NeurIPS 2017)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from drgst.nn.models.base import Backbone, Hidden
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import Linear
from drgst.nn.random import Dropout


class SAGE(Backbone):
    """logits = layer₂(dropout(ReLU(layer₁(dropout(X))))), layer(H) = H W_self + D^-1 A H W_neigh + b.

    The mean is over all neighbours (no sampling), without the paper's scaling of rows to length 1. D^-1 A (H W)
    equals (D^-1 A H) W, and X W_self and X W_neigh are one product. A node without neighbours has a mean of zero.
    64 hidden units; dropout 0.7 on the features too, which was better on Cora's validation nodes.
    """

    random_hidden: ClassVar[bool] = True

    depth = 2

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.7, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        self.input_drop = Dropout(dropout)
        self.first = Linear(features, hidden, start, parts=2)
        self.last = Linear(hidden, classes, start, parts=2)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        """ReLU(layer₁(dropout(X))), (N, D)."""
        return _layer(self.first, self.input_drop(x), adj).relu_()

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """H W_self + D^-1 A H W_neigh + b, (N, C)."""
        return _layer(self.last, h, adj)


def _layer(linear: Linear, h: Hidden, adj: Adjacency) -> Tensor:
    own, near = linear.split(h)
    return own + adj.form("mean") @ near + linear.bias
