"""The yardstick: the same thing as a researcher would write it in plain PyTorch Geometric."""

from __future__ import annotations

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


def tensors(graph: Graph, normalise: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Dense x, edge_index, y."""
    features = scaled(graph.features, normalise)
    x = torch.from_numpy(np.array(features if isinstance(features, np.ndarray) else features.toarray()))
    edges = np.vstack(graph.adjacency.tocoo().coords)
    return x, torch.from_numpy(edges).long(), torch.from_numpy(np.array(graph.labels))


def train(
    model: PlainGCN,
    x: torch.Tensor,
    edge_index: torch.Tensor,
    nodes: torch.Tensor,
    labels: torch.Tensor,
    weights: torch.Tensor,
    val: torch.Tensor,
    val_labels: torch.Tensor,
    epochs: int,
) -> None:
    """``epochs`` epochs of Adam, each with an evaluation pass."""
    adam = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, best_state = float("inf"), {}
    for _ in range(epochs):
        model.train()
        adam.zero_grad()
        out = model(x, edge_index)
        loss = (F.cross_entropy(out[nodes], labels, reduction="none") * weights).mean()
        loss.backward()
        adam.step()
        model.eval()
        with torch.no_grad():
            value = F.cross_entropy(model(x, edge_index)[val], val_labels).item()
        if value < best:
            best, best_state = value, {k: v.clone() for k, v in model.state_dict().items()}
    model.load_state_dict(best_state)


@torch.no_grad()
def gain(
    model: PlainGCN, x: torch.Tensor, edge_index: torch.Tensor, kind: str, rate: float, samples: int = 100
) -> torch.Tensor:
    """100 forward passes stacked, then H[mean] - mean H."""
    model.eval()
    out = []
    for _ in range(samples):
        h = model.conv1(x, edge_index).relu()
        edges = edge_index
        if kind == "dropout":
            h = F.dropout(h, rate, training=True)
        else:
            edges, _ = dropout_edge(edge_index, rate)
        out.append(model.conv2(h, edges).softmax(dim=1))
    p = torch.stack(out)
    mean = p.mean(dim=0)
    return -(mean * (mean + 1e-12).log()).sum(1) + (p * (p + 1e-12).log()).sum(2).mean(0)
