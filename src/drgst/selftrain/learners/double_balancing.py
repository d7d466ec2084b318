"""The objective of IceBerg: pseudo-labels selected in every epoch, both losses balanced by their class shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from drgst.nn.losses import NodeLoss
from drgst.selftrain.problem import Problem, Targets


def balanced_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """-log softmax(z + log π)_y with π_k the share of class k among ``labels``, (M,).

    A class that is not there counts as one label, so that log π stays finite. With equal shares it is cross-entropy.
    """
    counts = torch.bincount(labels, minlength=logits.shape[1]).clamp_min(1).to(logits.dtype)
    return F.cross_entropy(logits + (counts / counts.sum()).log(), labels, reduction="none")


def reverse_cross_entropy(logits: Tensor, labels: Tensor, log_zero: float = -4.0) -> Tensor:
    """-Σ_k p_k log ŷ_k = -log_zero (1 - p_y) with log 0 = ``log_zero``, (M,): bounded, so robust to wrong labels."""
    return -log_zero * (1 - logits.softmax(dim=1).gather(1, labels.unsqueeze(1)).squeeze(1))


class DoubleBalancingLoss:
    """mean BCE(V_L) + λ · mean over S of [BCE(u, ȳ_u) + ρ RCE(u, ȳ_u)] with balanced and reverse CE.

    S = {u ∈ pool: max p_u ≥ mean over the pool of max p}, by the training logits of the epoch, without gradient
    through the selection; in the first ``warm_up`` epochs S is empty.
    """

    def __init__(self, problem: Problem, targets: Targets, part: DoubleBalancing) -> None:
        self.part, self.true = part, targets.nodes.size
        self.nodes = np.concatenate([targets.nodes, np.setdiff1d(problem.split.pool, targets.nodes)])
        self.labels = torch.from_numpy(np.array(targets.labels, dtype=np.int64)).to(problem.inputs.device)

    def __call__(self, logits: Tensor, epoch: int) -> Tensor:
        total = balanced_cross_entropy(logits[: self.true], self.labels).mean()
        if epoch < self.part.warm_up or self.true == self.nodes.size:
            return total
        rows, labels = self.pseudo_labels(logits)
        selected = logits[rows]
        loss = balanced_cross_entropy(selected, labels)
        if self.part.reverse:
            loss = loss + self.part.reverse * reverse_cross_entropy(selected, labels)
        return total + self.part.weight * loss.mean()

    @torch.no_grad()
    def pseudo_labels(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Rows of S and their pseudo-labels; never empty, as the highest confidence is not below the mean."""
        confidence, labels = logits[self.true :].softmax(dim=1).max(dim=1)
        rows = (confidence >= confidence.mean()).nonzero().squeeze(1)
        return rows + self.true, labels[rows]


@dataclass(frozen=True)
class DoubleBalancing:
    """Makes :class:`DoubleBalancingLoss`, the objective of a Network that selects pseudo-labels in every epoch."""

    weight: float = 1.0  # λ
    reverse: float = 0.0  # ρ
    warm_up: int = 20  # epochs on V_L alone

    def __call__(self, problem: Problem, targets: Targets, _loss: NodeLoss) -> DoubleBalancingLoss:
        return DoubleBalancingLoss(problem, targets, self)
