"""The reference of the speed comparison: the same computations in plain PyTorch Geometric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F
from torch_geometric.nn import GCNConv
from torch_geometric.utils import dropout_edge

from drgst.graph.core import Graph
from drgst.nn.inputs import scaled


class PlainGCN(torch.nn.Module):
    """Two GCNConv layers on edge_index and dense x."""

    def __init__(self, features: int, classes: int, hidden: int = 64, dropout: float = 0.5) -> None:
        super().__init__()
        self.conv1 = GCNConv(features, hidden)
        self.conv2 = GCNConv(hidden, classes)
        self.dropout = dropout

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        h = self.conv1(x, edge_index).relu()
        h = F.dropout(h, self.dropout, self.training)
        return self.conv2(h, edge_index)


@dataclass
class PlainData:
    """Dense x, edge_index and y, and the validation nodes."""

    x: torch.Tensor
    edge_index: torch.Tensor
    y: torch.Tensor
    val: torch.Tensor

    @classmethod
    def of(cls, graph: Graph, val: np.ndarray, normalise: str) -> PlainData:
        """The tensors of a graph."""
        features = scaled(graph.features, normalise)
        x = torch.from_numpy(np.array(features if isinstance(features, np.ndarray) else features.toarray()))
        edges = torch.from_numpy(np.vstack(graph.adjacency.tocoo().coords)).long()
        return cls(x, edges, torch.from_numpy(np.array(graph.labels)), torch.from_numpy(np.array(val)))


def train(model: PlainGCN, data: PlainData, nodes: torch.Tensor, labels: torch.Tensor, epochs: int) -> None:
    """``epochs`` epochs of Adam on weighted cross-entropy, each with an evaluation pass."""
    adam = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    weights, best, best_state = torch.ones(nodes.numel()), float("inf"), {}
    for _ in range(epochs):
        model.train()
        adam.zero_grad()
        out = model(data.x, data.edge_index)
        loss = (F.cross_entropy(out[nodes], labels, reduction="none") * weights).mean()
        loss.backward()
        adam.step()
        model.eval()
        with torch.no_grad():
            value = F.cross_entropy(model(data.x, data.edge_index)[data.val], data.y[data.val]).item()
        if value < best:
            best, best_state = value, {k: v.clone() for k, v in model.state_dict().items()}
    model.load_state_dict(best_state)


@torch.no_grad()
def gain(model: PlainGCN, data: PlainData, kind: str, rate: float, samples: int = 100) -> torch.Tensor:
    """``samples`` forward passes stacked, then H[mean] - mean H."""
    model.eval()
    out = []
    for _ in range(samples):
        h = model.conv1(data.x, data.edge_index).relu()
        edges = data.edge_index
        if kind == "dropout":
            h = F.dropout(h, rate, training=True)
        else:
            edges, _ = dropout_edge(data.edge_index, rate)
        out.append(model.conv2(h, edges).softmax(dim=1))
    p = torch.stack(out)
    mean = p.mean(dim=0)
    return -(mean * (mean + 1e-12).log()).sum(1) + (p * (p + 1e-12).log()).sum(2).mean(0)
