"""Graph attention: GAT."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from drgst.errors import SettingError
from drgst.nn.models.base import InputDropout
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.attention import edge_product, edge_softmax, edges_of
from drgst.nn.ops.dropout import Dropout
from drgst.nn.ops.linear import Linear, weight
from drgst.nn.ops.sparse import Hidden

HEADS = 8


class GAT(InputDropout):
    """logits = layer₂(dropout(ELU(layer₁(dropout(X))))), layer(H)_u = ‖_heads Σ_v dropout(a_uv) (H W)_v + b.

    a_uv = softmax of LeakyReLU(t · (H W)_u + s · (H W)_v) over u and its neighbours, slope 0.2 (Veličković et al.,
    ICLR 2018). 8 heads of hidden / 8 units, one head in the last layer, dropout 0.6 on features, hidden layer and
    attention, learning rate 0.005, as in the paper. Attention replaces edge weights; edges of weight 0 are ignored.
    """

    depth = 2

    def __init__(
        self, features: int, classes: int, hidden: int = 64, dropout: float = 0.6, start: str = "glorot"
    ) -> None:
        super().__init__(dropout)
        if hidden % HEADS:
            raise SettingError(f"gat's hidden size {hidden} can't be shared among {HEADS} heads (allowed: a multiple)")
        self.first = _GATLayer(features, hidden, HEADS, dropout, start)
        self.last = _GATLayer(hidden, classes, 1, dropout, start)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        return F.elu(self.first(self.input_drop(x), adj))

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        return self.last(h, adj)


class _GATLayer(nn.Module):
    """‖_heads Σ_v dropout(a_uv) (H W)_v + b, (N, F) -> (N, D)."""

    def __init__(self, inputs: int, outputs: int, heads: int, dropout: float, start: str) -> None:
        super().__init__()
        self.heads = heads
        self.linear = Linear(inputs, outputs, start)
        ends = [weight(start, heads, outputs // heads).detach() for _ in range(2)]
        self.ends = nn.Parameter(torch.stack(ends, dim=2))  # t and s of each head, (H, D/H, 2)
        self.drop = Dropout(dropout)

    def forward(self, h: Hidden, adj: Adjacency) -> Tensor:
        product = self.linear.product(h)
        nodes, width = product.shape
        x = product.view(nodes, self.heads, -1).transpose(0, 1).contiguous()  # (H, N, D/H)
        target, source = torch.bmm(x, self.ends).unbind(dim=2)
        edges = edges_of(adj.form("loops"), self.heads)
        attention = self.drop(edge_softmax(edges, target, source))
        return edge_product(edges, attention, x).transpose(0, 1).reshape(nodes, width) + self.linear.bias
