"""ChebNet (Defferrard, Bresson, Vandergheynst, NeurIPS 2016)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from drgst.errors import SettingError
from drgst.nn.models.base import Backbone, Hidden
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import Linear
from drgst.nn.ops.sparse import SparseMatrix
from drgst.nn.random import Dropout


class Cheb(Backbone):
    """logits = layer₂(dropout(ReLU(layer₁(dropout(X))))), layer(H) = Σ_k T_k(L̃) H W_k + b for k = 0 … K.

    T₀ = I, T₁ = L̃, T_k = 2 L̃ T_k-1 - T_k-2 with L̃ = -D^-½ A D^-½ (λ_max = 2). K = 2, as GCN's paper compares
    with; 64 hidden units; dropout 0.7 on the features too, which was better on Cora's validation nodes. All X W_k
    are one product, and the sum takes K sparse products by Clenshaw's recurrence.
    """

    random_hidden: ClassVar[bool] = True

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.7, start: str = "glorot", order: int = 2
    ) -> None:
        super().__init__(dropout)
        if order < 1:
            raise SettingError(f"order is {order} (allowed: 1 or more)")
        self.depth = 2 * order
        self.input_drop = Dropout(dropout)
        self.first = Linear(features, hidden, start, parts=order + 1)
        self.last = Linear(hidden, classes, start, parts=order + 1)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        """ReLU(layer₁(dropout(X))), (N, D)."""
        return _layer(self.first, self.input_drop(x), adj).relu_()

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        """Σ_k T_k(L̃) H W_k + b, (N, C)."""
        return _layer(self.last, h, adj)


def _layer(linear: Linear, h: Hidden, adj: Adjacency) -> Tensor:
    return chebyshev_sum(adj.form("laplacian"), linear.split(h)) + linear.bias


def chebyshev_sum(laplacian: SparseMatrix, terms: tuple[Tensor, ...]) -> Tensor:
    """Σ_k T_k(L̃) M_k = M₀ + L̃ B₁ - B₂ with B_k = M_k + 2 L̃ B_k+1 - B_k+2 (Clenshaw), each M_k (N, D)."""
    above: Tensor | None = None  # B_k+2
    here = terms[-1]  # B_k+1
    for term in terms[-2:0:-1]:
        below = term + 2 * (laplacian @ here)
        above, here = here, below if above is None else below - above
    total = terms[0] + laplacian @ here
    return total if above is None else total - above
