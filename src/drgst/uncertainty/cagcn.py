"""Calibration by a small GCN on the logits: CaGCN (Wang et al., Be Confident!, NeurIPS 2021)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from drgst.nn.inputs import Inputs
from drgst.nn.networks import GCN, Backbone
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import Hidden
from drgst.nn.random import seeded_torch
from drgst.nn.records import Schedule, State, ValidationSet
from drgst.nn.training import NetworkTrainer, forward, load_arrays, state_arrays

FLOOR = 1.1  # s > log 1.1 > 0: a positive factor keeps the largest logit
SCHEDULE = Schedule(lr=0.01, weight_decay=5e-3, fixed_epochs=200)


class Calibrator(Backbone):
    """z'_u = z_u · s_u with s_u = log(exp(t_u) + 1.1) and t = GCN(Z), a two-layer GCN with one output, (N, C)."""

    random_hidden: ClassVar[bool] = True
    estimators = frozenset()

    def __init__(self, classes: int, hidden: int = 16, dropout: float = 0.5) -> None:
        super().__init__(dropout)
        self.gcn = GCN(classes, 1, hidden, dropout)

    def forward(self, x: Hidden, adj: Adjacency) -> Tensor:
        assert isinstance(x, Tensor)
        t = self.gcn(x, adj)
        return x * torch.logaddexp(t, torch.full_like(t, np.log(FLOOR)))


class CalibrationLoss:
    """1/M Σ -log p_y + λ/M Σ d, d = 1 - p₁ + p₂ if the prediction is correct, p₁ - p₂ if it is wrong.

    p₁ and p₂ are the largest and the second largest probability: the loss raises the confidence of correct predictions
    and lowers that of wrong ones.
    """

    def __init__(self, nodes: np.ndarray, labels: np.ndarray, weight: float) -> None:
        self.nodes, self.weight = nodes, weight
        self.labels = torch.from_numpy(np.array(labels, dtype=np.int64))

    def __call__(self, logits: Tensor, _epoch: int) -> Tensor:
        labels = self.labels.to(logits.device)
        top = logits.softmax(dim=1).topk(2, dim=1).values
        margin = top[:, 0] - top[:, 1]
        penalty = torch.where(logits.argmax(dim=1) == labels, 1 - margin, margin)
        return F.cross_entropy(logits, labels) + self.weight * penalty.mean()


def fit_cagcn(
    logits: np.ndarray, adj: Adjacency, loss: CalibrationLoss, rng: np.random.Generator, hidden: int = 16
) -> dict[str, np.ndarray]:
    """The weights of a :class:`Calibrator` of the (N, C) logits that minimise ``loss``."""
    with seeded_torch(rng):
        network = Calibrator(logits.shape[1], hidden).to(adj.device)
    no_nodes = np.empty(0, dtype=np.int64)
    NetworkTrainer(network, _inputs(logits, adj), loss, ValidationSet(no_nodes, no_nodes), SCHEDULE, rng).fit()
    return state_arrays(network)


@torch.no_grad()
def apply_cagcn(learnt: State, logits: np.ndarray, adj: Adjacency) -> np.ndarray:
    """z' of every node, (N, C), from the weights that :func:`fit_cagcn` returned."""
    network = Calibrator(logits.shape[1], learnt["gcn.weight1"].shape[1])
    load_arrays(network, learnt)
    network.to(adj.device).eval()
    return forward(network, _inputs(logits, adj)).cpu().numpy()


def _inputs(logits: np.ndarray, adj: Adjacency) -> Inputs:
    z = torch.from_numpy(np.array(logits, dtype=np.float32)).to(adj.device)
    return Inputs(z, adj, np.arange(adj.num_nodes))
