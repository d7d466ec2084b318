"""Spectral convolutions: GCN, SGC and ChebNet."""

from __future__ import annotations

from torch import Tensor

from drgst.nn.models.base import Backbone, TwoLayers
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.linear import Linear, Weights, bias, weight
from drgst.nn.ops.sparse import Hidden, SparseMatrix, thin_product

HOPS = 2  # of SGC


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


class SGC(Backbone):
    """logits = Â^K dropout(X) W + b with Â = D̃^-½ (A + I) D̃^-½ (Wu et al., ICML 2019); K = 2.

    X W is computed first, so that the K products are on C columns and sparse features stay sparse. There is no hidden
    layer: ``hidden`` is X, and dropout drops features. Learning rate 0.2 as in the paper, which tunes the weight decay
    (1e-5 here) and has no dropout; 0.7 was better on Cora's validation nodes.
    """

    depth = HOPS

    def __init__(self, features: int, classes: int, dropout: float = 0.7, start: str = "glorot") -> None:
        super().__init__(dropout)
        self.last = Linear(features, classes, start)

    def hidden(self, x: Hidden, _adj: Adjacency) -> Hidden:
        return x

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        z = self.last.product(h)
        for _ in range(HOPS):
            z = adj.sym @ z
        return z + self.last.bias


class Cheb(TwoLayers):
    """logits = layer₂(dropout(ReLU(layer₁(dropout(X))))), layer(H) = Σ_k T_k(L̃) H W_k + b for k = 0 … K.

    T₀ = I, T₁ = L̃, T_k = 2 L̃ T_k-1 - T_k-2 with L̃ = -D^-½ A D^-½ (λ_max = 2) (Defferrard, Bresson, Vandergheynst,
    NeurIPS 2016). K = 2 as in the comparison of GCN's paper; 64 hidden units; dropout 0.7 on the features, too, which
    was better on Cora's validation nodes. All H W_k are one product, and Clenshaw's recurrence needs K sparse products.
    """

    depth = 4

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.7, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        self.first = _ChebLayer(features, hidden, start, parts=3)
        self.last = _ChebLayer(hidden, classes, start, parts=3)


class _ChebLayer(Weights):
    """Σ_k T_k(L̃) H W_k + b, (N, F) -> (N, D)."""

    def forward(self, h: Hidden, adj: Adjacency) -> Tensor:
        return chebyshev_sum(adj.form("laplacian"), self.split(h)) + self.bias


def chebyshev_sum(laplacian: SparseMatrix, terms: tuple[Tensor, ...]) -> Tensor:
    """Σ_k T_k(L̃) M_k = M₀ + L̃ B₁ - B₂ with B_k = M_k + 2 L̃ B_k+1 - B_k+2 (Clenshaw), each M_k (N, D)."""
    above: Tensor | None = None  # B_k+2
    here = terms[-1]  # B_k+1
    for term in terms[-2:0:-1]:
        below = term + 2 * (laplacian @ here)
        above, here = here, below if above is None else below - above
    total = terms[0] + laplacian @ here
    return total if above is None else total - above
