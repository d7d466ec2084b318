"""GIN (Xu et al., How Powerful are Graph Neural Networks?, ICLR 2019)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from drgst.nn.models.base import Backbone, Hidden
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import Linear
from drgst.nn.random import Dropout


class GIN(Backbone):
    """logits = layer₂(dropout(ReLU(layer₁(dropout(X))))), layer(H) = MLP((1 + ε) H + A H), ε learnt from 0.

    MLP(H) = dropout(ReLU(LN(H W + b))) W' + b' with LN the normalisation of each row to mean 0 and deviation 1 (then
    scaled and shifted as learnt). The paper has batch normalisation in its place, whose statistics would make a
    node's logits depend on the part of the graph that is looked at; without either, sums over many neighbours
    train badly. 64 hidden units, dropout 0.5. Dropedge makes the sums smaller: nothing divides by the degree.
    """

    random_hidden: ClassVar[bool] = True

    depth = 2

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.5, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        self.input_drop = Dropout(dropout)
        self.first = _Layer(features, hidden, hidden, dropout, start)
        self.last = _Layer(hidden, hidden, classes, dropout, start)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        """ReLU(layer₁(dropout(X))), (N, D)."""
        return self.first(self.input_drop(x), adj).relu_()

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """layer₂(H), (N, C)."""
        return self.last(h, adj)


class _Layer(nn.Module):
    """MLP((1 + ε) H + A H); the MLP's first product comes before the sum, on fewer columns."""

    def __init__(self, inputs: int, middle: int, outputs: int, dropout: float, start: str) -> None:
        super().__init__()
        self.inner = Linear(inputs, middle, start)
        self.outer = Linear(middle, outputs, start)
        self.norm = nn.LayerNorm(middle)
        self.eps = nn.Parameter(torch.zeros(()))
        self.drop = Dropout(dropout)

    def forward(self, h: Hidden, adj: Adjacency) -> Tensor:
        mixed = self.inner.mix(h)
        total = (1 + self.eps) * mixed + adj.form("plain") @ mixed + self.inner.bias
        return self.outer(self.drop(self.norm(total).relu_()))
