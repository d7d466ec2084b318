"""What a training minimises: a weighted, possibly corrected cross-entropy over some nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

SMALLEST = 1e-8  # a probability below this counts as this


class Objective(Protocol):
    """A loss over the logits of ``nodes``: called once an epoch with them, it gives a scalar to minimise."""

    nodes: np.ndarray  # (M,) places in the whole graph, unique

    def __call__(self, logits: Tensor, epoch: int, /) -> Tensor:
        """The loss of the (M, C) logits of ``nodes``."""
        ...


class NodeLoss(Protocol):
    """The loss of each node on its own: (M, C) logits and (M,) labels give (M,) losses."""

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor: ...


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """l(y, p) = -log p_y with p = softmax(z), (M,) (Eq. objective_func)."""
    return F.cross_entropy(logits, labels, reduction="none")


@dataclass(frozen=True)
class CorrectedCrossEntropy:
    """l(y, p T) = -log (Σ_k p_k T_ky) with T_kj = P(pseudo-label j | true label k), (M,).

    The student's own output p stands for f_θ*; what it is compared with the pseudo-labels through is f_θ̄ = Tᵀ p.
    T is constant. An entry that falls below 1e-8 (T is not forced to be a distribution) counts as 1e-8.
    """

    transition: Tensor  # T, (C, C)

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        seen = logits.softmax(dim=1) @ self.transition.to(logits.device)
        return -seen.gather(1, labels.unsqueeze(1)).squeeze(1).clamp_min(SMALLEST).log()


@dataclass(frozen=True)
class GeneralisedCrossEntropy:
    """l(y, p) = (1 - p_y^q) / q: cross-entropy as q → 0, mean absolute error at q = 1 (Zhang, Sabuncu 2018), (M,)."""

    q: float = 0.7

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        p = logits.softmax(dim=1).gather(1, labels.unsqueeze(1)).squeeze(1).clamp_min(SMALLEST)
        return (1 - p**self.q) / self.q


class WeightedLoss:
    """1/M Σ_i w_i l(y_i, p_i) over true and pseudo-labelled nodes, M = |V_L ∪ S_U| (Eq. final_loss).

    With w = 1 on V_L and w = B̄ on S_U this is |S_U|/M · E[B̄ l] + |V_L|/M · E[l].
    """

    def __init__(
        self,
        nodes: np.ndarray,
        labels: np.ndarray,
        weights: np.ndarray,
        loss: NodeLoss = cross_entropy,
        device: torch.device | str = "cpu",
    ) -> None:
        self.nodes = nodes
        self.labels = torch.from_numpy(np.array(labels, dtype=np.int64)).to(device)
        self.weights = torch.from_numpy(np.array(weights, dtype=np.float32)).to(device)
        self.loss = loss

    def __call__(self, logits: Tensor, epoch: int) -> Tensor:  # noqa: ARG002
        return self.weights.dot(self.loss(logits, self.labels)) / len(self.nodes)
