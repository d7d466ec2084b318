"""Calibration by a small network on the graph: CaGCN (Wang et al., Be Confident!, NeurIPS 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from drgst.nn.inputs import Inputs
from drgst.nn.models.base import Backbone, Hidden
from drgst.nn.models.gcn import GCN
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.training import Schedule, Watch, fit, forward, private_randomness

FLOOR = 1.1  # s > log 1.1 > 0: a positive factor never changes the largest logit


class Calibrator(Backbone):
    """z'_u = z_u · s_u with s_u = log(exp(t_u) + 1.1) and t = GCN(Z), a two-layer GCN with one output, (N, C)."""

    random_hidden: ClassVar[bool] = True
    estimators: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, classes: int, hidden: int = 16, dropout: float = 0.5) -> None:
        super().__init__(dropout)
        self.gcn = GCN(classes, 1, hidden, dropout)

    def forward(self, x: Hidden, adj: Adjacency) -> Tensor:
        """Calibrated logits of the logits ``x``."""
        assert isinstance(x, Tensor)
        t = self.gcn(x, adj)
        return x * torch.logaddexp(t, torch.full_like(t, np.log(FLOOR)))


class CalibrationLoss:
    """1/M Σ -log p_y + λ/M Σ d, d = 1 - p₁ + p₂ where the first class is right, p₁ - p₂ where it is wrong.

    p₁ and p₂ are the largest and second largest probability: confidence is to be raised where the network is
    right and lowered where it is wrong.
    """

    def __init__(self, nodes: np.ndarray, labels: np.ndarray, weight: float) -> None:
        self.nodes, self.weight = nodes, weight
        self.labels = torch.from_numpy(np.array(labels, dtype=np.int64))

    def __call__(self, logits: Tensor, epoch: int) -> Tensor:  # noqa: ARG002
        labels = self.labels.to(logits.device)
        top = logits.softmax(dim=1).topk(2, dim=1).values
        t_statistic = top[:, 0] - top[:, 1]
        apart = torch.where(logits.argmax(dim=1) == labels, 1 - t_statistic, t_statistic)
        return F.cross_entropy(logits, labels) + self.weight * apart.mean()


def _inputs(logits: np.ndarray, adj: Adjacency) -> Inputs:
    z = torch.from_numpy(np.array(logits, dtype=np.float32)).to(adj.device)
    return Inputs(z, adj, np.arange(adj.num_nodes))


def learn_cagcn(
    logits: np.ndarray,
    adj: Adjacency,
    nodes: np.ndarray,
    labels: np.ndarray,
    rng: np.random.Generator,
    weight: float = 0.5,
    hidden: int = 16,
    schedule: Schedule | None = None,
) -> dict[str, Tensor]:
    """The weights of a :class:`Calibrator` fitted to the labels of ``nodes``; the network behind Z stays as it is.

    ``schedule`` is Adam 0.01 with weight decay 5e-3 for 200 epochs where it is not given.
    """
    with private_randomness(rng):
        network = Calibrator(logits.shape[1], hidden).to(adj.device)
    schedule = schedule or Schedule(lr=0.01, weight_decay=5e-3, fixed_epochs=200)
    nobody = Watch(np.empty(0, np.int64), np.empty(0, np.int64))
    fit(network, _inputs(logits, adj), CalibrationLoss(nodes, labels, weight), nobody, schedule, rng)
    return {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}


@torch.no_grad()
def apply_cagcn(learnt: Mapping[str, Tensor], logits: np.ndarray, adj: Adjacency) -> np.ndarray:
    """z' of every node, (N, C), from the weights that :func:`learn_cagcn` gave."""
    network = Calibrator(logits.shape[1], learnt["gcn.weight1"].shape[1])
    network.load_state_dict(dict(learnt))
    network.to(adj.device).eval()
    return forward(network, _inputs(logits, adj)).cpu().numpy()
