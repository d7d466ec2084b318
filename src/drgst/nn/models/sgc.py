"""SGC (Wu et al., Simplifying Graph Convolutional Networks, ICML 2019)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from drgst.errors import SettingError
from drgst.nn.models.base import Backbone, Hidden
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import Linear


class SGC(Backbone):
    """logits = Â^K dropout(X) W + b with Â = D̃^-½ (A + I) D̃^-½: a linear model on smoothed features; K = 2.

    X W comes first, so the K products are on C columns and sparse features stay sparse. There is no hidden layer:
    ``hidden`` is X itself, its dropout drops features, and the setting ``hidden`` changes nothing. Learning rate 0.2
    as in the paper, which tunes the weight decay (1e-5 here) and has no dropout; 0.7 was better on Cora's validation
    nodes.
    """

    recommended: ClassVar[dict[str, float]] = {"lr": 0.2, "weight_decay": 1e-5}

    def __init__(
        self,
        features: int,
        classes: int,
        hidden: int = 64,  # noqa: ARG002
        dropout: float = 0.7,
        start: str = "glorot",
        hops: int = 2,
    ) -> None:
        super().__init__(dropout)
        if hops < 1:
            raise SettingError(f"hops is {hops} (allowed: 1 or more)")
        self.hops = self.depth = hops
        self.last = Linear(features, classes, start)

    def hidden(self, x: Hidden, adj: Adjacency) -> Hidden:  # noqa: ARG002
        """X, (N, F)."""
        return x

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """Â^K (H W) + b, (N, C)."""
        z = self.last.mix(h)
        for _ in range(self.hops):
            z = adj.sym @ z
        return z + self.last.bias
