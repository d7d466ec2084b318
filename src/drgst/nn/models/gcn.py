"""GCN (Kipf and Welling, ICLR 2017)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from drgst.nn.models.base import Backbone, Hidden, LinearHead, glorot, uniform
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import thin_product


class GCN(Backbone, LinearHead):
    """logits = Â dropout(ReLU(Â X W₁ + b₁)) W₂ + b₂ with Â = D̃^-½ (A + I) D̃^-½: the backbone of the paper.

    Dropout stands between the layers only, so the first layer of an epoch's evaluation is the first layer of
    the next training step. ``start="uniform"`` begins as the published program does.
    """

    depth = 2

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.5, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        make = uniform if start == "uniform" else glorot
        self.weight1 = make(features, hidden)
        self.weight2 = make(hidden, classes)
        self.bias1 = uniform(hidden) if start == "uniform" else nn.Parameter(torch.zeros(hidden))
        self.bias2 = uniform(classes) if start == "uniform" else nn.Parameter(torch.zeros(classes))

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        """ReLU(Â X W₁ + b₁), (N, D)."""
        return (adj.sym @ (x @ self.weight1)).add_(self.bias1).relu_()

    def mix(self, h: Hidden) -> Tensor:
        """H W₂, (N, C)."""
        return thin_product(h, self.weight2)

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """Â (H W₂) + b₂, (N, C)."""
        return adj.sym @ self.mix(h) + self.bias2
