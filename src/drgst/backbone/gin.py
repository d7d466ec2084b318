"""GIN (Xu et al., How Powerful are Graph Neural Networks?, ICLR 2019)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from drgst.backbone.adjacency import Adjacency
from drgst.backbone.base import Backbone, Hidden
from drgst.backbone.linear import Linear


class GIN(Backbone):
    """logits = layer₂(dropout(ReLU(layer₁(X)))), layer(H) = MLP((1 + ε) H + A H), MLP(H) = ReLU(H W + b) W' + b'.

    A sum over neighbours, ε learnt from 0. The paper's batch normalisation is left out: its statistics would tie
    every node to every other, and a node's logits to the part of the graph that is looked at.
    """

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.5, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        self.first = _Layer(features, hidden, hidden, start)
        self.last = _Layer(hidden, hidden, classes, start)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        """ReLU(layer₁(X)), (N, D)."""
        return self.first(x, adj).relu_()

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """layer₂(H), (N, C)."""
        return self.last(h, adj)


class _Layer(nn.Module):
    """MLP((1 + ε) H + A H); the MLP's first product comes before the sum, on fewer columns."""

    def __init__(self, inputs: int, middle: int, outputs: int, start: str) -> None:
        super().__init__()
        self.inner = Linear(inputs, middle, start)
        self.outer = Linear(middle, outputs, start)
        self.eps = nn.Parameter(torch.zeros(()))

    def forward(self, h: Hidden, adj: Adjacency) -> Tensor:
        mixed = self.inner.mix(h)
        total = (1 + self.eps) * mixed + adj.form("plain") @ mixed + self.inner.bias
        return self.outer(total.relu_())
