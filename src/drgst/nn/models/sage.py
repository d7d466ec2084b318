"""Aggregation of neighbours by mean and by sum: GraphSAGE and GIN."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from drgst.nn.models.base import TwoLayers
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.dropout import Dropout
from drgst.nn.ops.linear import Linear, Weights
from drgst.nn.ops.sparse import Hidden


class SAGE(TwoLayers):
    """logits = layer₂(dropout(ReLU(layer₁(dropout(X))))), layer(H) = H W_self + D^-1 A H W_neigh + b.

    GraphSAGE with the mean aggregator (Hamilton, Ying, Leskovec, NeurIPS 2017) over all neighbours, without sampling
    and without scaling of rows to length 1. H W_self and H W_neigh are one product. The mean of a node without
    neighbours is zero. 64 hidden units; dropout 0.7 on the features, too, which was better on Cora's validation nodes.
    """

    depth = 2

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.7, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        self.first = _SAGELayer(features, hidden, start, parts=2)
        self.last = _SAGELayer(hidden, classes, start, parts=2)


class _SAGELayer(Weights):
    """H W_self + D^-1 A H W_neigh + b, (N, F) -> (N, D)."""

    def forward(self, h: Hidden, adj: Adjacency) -> Tensor:
        own, near = self.split(h)
        return own + adj.form("mean") @ near + self.bias


class GIN(TwoLayers):
    """logits = layer₂(dropout(ReLU(layer₁(dropout(X))))), layer(H) = MLP((1 + ε) H + A H), ε learnt from 0.

    MLP(H) = dropout(ReLU(LN(H W + b))) W' + b' with layer normalisation LN. The paper (Xu et al., ICLR 2019) has batch
    normalisation, whose statistics would make the logits of a node depend on the part of the graph in use; without
    either, sums over many neighbours train badly. 64 hidden units, dropout 0.5. Dropedge makes the sums smaller, as
    nothing divides by the degree.
    """

    depth = 2

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.5, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        self.first = _GINLayer(features, hidden, hidden, dropout, start)
        self.last = _GINLayer(hidden, hidden, classes, dropout, start)


class _GINLayer(nn.Module):
    """MLP((1 + ε) H + A H); the first product of the MLP precedes the sum, which then has fewer columns."""

    def __init__(self, inputs: int, middle: int, outputs: int, dropout: float, start: str) -> None:
        super().__init__()
        self.inner = Linear(inputs, middle, start)
        self.outer = Linear(middle, outputs, start)
        self.norm = nn.LayerNorm(middle)
        self.eps = nn.Parameter(torch.zeros(()))
        self.drop = Dropout(dropout)

    def forward(self, h: Hidden, adj: Adjacency) -> Tensor:
        product = self.inner.product(h)
        total = (1 + self.eps) * product + adj.form("plain") @ product + self.inner.bias
        return self.outer(self.drop(self.norm(total).relu_()))
