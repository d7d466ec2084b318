"""DAGNN (Liu, Gao, Ji, Towards Deeper Graph Neural Networks, KDD 2020)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from drgst.errors import SettingError
from drgst.nn.models.base import Backbone, Hidden
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import Linear, weight
from drgst.nn.ops.sparse import thin_product
from drgst.nn.random import Dropout


class DAGNN(Backbone):
    """logits = Σ_k σ(Âᵏ M s) ∘ Âᵏ M for k = 0 … K, with M = dropout(ReLU(dropout(X) W₁ + b₁)) W₂ + b₂.

    The learnt vector s (C,) decides how much each hop counts for each node. K = 10, 64 hidden units, dropout 0.8 and
    weight decay 0.005 as the authors use on Cora. ``head`` is the last layer with the propagation and the gates.
    """

    random_hidden: ClassVar[bool] = True
    recommended: ClassVar[dict[str, float]] = {"weight_decay": 5e-3}

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.8, start: str = "glorot", hops: int = 10
    ) -> None:
        super().__init__(dropout)
        if hops < 1:
            raise SettingError(f"hops is {hops} (allowed: 1 or more)")
        self.hops = self.depth = hops
        self.input_drop = Dropout(dropout)
        self.first = Linear(features, hidden, start)
        self.last = Linear(hidden, classes, start)
        self.gate = weight(start, classes, 1)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:  # noqa: ARG002
        """ReLU(dropout(X) W₁ + b₁), (N, D)."""
        return self.first(self.input_drop(x)).relu_()

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """Σ_k σ(Âᵏ M s) ∘ Âᵏ M with M = H W₂ + b₂, (N, C)."""
        z = self.last(h)
        total = self._gated(z)
        for _ in range(self.hops):
            z = adj.sym @ z
            total = total + self._gated(z)
        return total

    def _gated(self, z: Tensor) -> Tensor:
        return torch.sigmoid(thin_product(z, self.gate)) * z
