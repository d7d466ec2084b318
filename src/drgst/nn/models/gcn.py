"""Graph convolution: GCN."""

from __future__ import annotations

from torch import Tensor

from drgst.nn.models.base import Backbone
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import bias, weight
from drgst.nn.ops.sparse import Hidden, thin_product


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
