"""The objectives of ABN and IceBerg: pseudo-labels selected in every epoch, balanced by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional as F

from drgst.nn.losses import NodeLoss
from drgst.nn.random import generator
from drgst.selftrain.problem import Problem, Targets

NEGATIVES = 4_000_037  # sets the generator of negative pairs apart from all others
MOST = 1 - 1e-6  # a probability above this counts as this, so that log(1 - p) stays finite


class NonNeighbours:
    """Draws pairs (i, j) of nodes that are neither the same nor adjacent."""

    def __init__(self, adjacency: sp.csr_array) -> None:
        rows = np.repeat(np.arange(adjacency.shape[0], dtype=np.int64), np.diff(adjacency.indptr))
        self.count = adjacency.shape[0]
        self.edges = rows * self.count + adjacency.indices  # sorted: rows and the indices in them are

    def draw(self, first: np.ndarray, others: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Places in ``first`` and in ``others`` of the pairs that are allowed, of one draw for each of ``first``.

        A draw that gives the node itself or a neighbour is left out, not repeated: on a sparse graph that is one in a
        thousand, and the mean is taken over the pairs that are left.
        """
        drawn = rng.integers(0, others.size, first.size)
        i, j = first, others[drawn]
        key = i * self.count + j
        place = np.minimum(np.searchsorted(self.edges, key), max(self.edges.size - 1, 0))
        adjacent = self.edges[place] == key if self.edges.size else np.zeros(first.size, dtype=bool)
        keep = np.flatnonzero(~adjacent & (i != j))
        return keep, drawn[keep]


class AdaptiveLoss:
    """mean CE(V_L) + λ Σ_{u ∈ S} CE(u, ȳ_u) / n_ȳ + λ₁ · mean of -log(1 - p_j[y_i]) over pairs (i, j).

    S = {u ∈ pool: max p_u > τ} by the training logits of the epoch itself, n_k the number of them in class k, no
    gradient through the selection. i goes over V_L ∪ S, j is drawn from V_L ∪ pool, never i and never a neighbour.
    """

    def __init__(self, problem: Problem, targets: Targets, loss: NodeLoss, part: Adaptive) -> None:
        self.part, self.loss, self.true = part, loss, targets.nodes.size
        self.nodes = np.concatenate([targets.nodes, np.setdiff1d(problem.split.pool, targets.nodes)])
        self.labels = torch.from_numpy(np.array(targets.labels, dtype=np.int64)).to(problem.inputs.device)
        self.non_neighbours = NonNeighbours(problem.graph.adjacency)
        self.rng = generator(problem.seed, NEGATIVES)

    def __call__(self, logits: Tensor, _epoch: int) -> Tensor:
        rows, labels, weights = self.pseudo_labels(logits)
        selected = logits[rows]
        total = self.loss(logits[: self.true], self.labels).mean()
        total = total + self.part.pseudo_weight * weights.dot(self.loss(selected, labels))
        if not self.part.negative_weight:
            return total
        positive = np.concatenate([np.arange(self.true), rows.cpu().numpy()])
        return total + self.part.negative_weight * self.negative(logits, positive, torch.cat([self.labels, labels]))

    @torch.no_grad()
    def pseudo_labels(self, logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rows of S, their pseudo-labels and 1/n_ȳ: log p_max = z_max - logsumexp z, without the softmax."""
        pool = logits[self.true :]
        top, labels = pool.max(dim=1)
        confident = (top - pool.logsumexp(dim=1)) > np.log(max(self.part.threshold, 1e-30))
        rows = confident.nonzero().squeeze(1)
        labels = labels[rows]
        counts = torch.bincount(labels, minlength=logits.shape[1])
        return rows + self.true, labels, 1.0 / counts[labels].float()

    def negative(self, logits: Tensor, positive: np.ndarray, labels: Tensor) -> Tensor:
        """mean of -log(1 - p_j[y_i]) over the pairs drawn; 0 where there is none."""
        places = np.arange(positive.size)
        if self.part.negatives:
            places = self.rng.integers(0, positive.size, self.part.negatives)
        first, second = self.non_neighbours.draw(self.nodes[positive[places]], self.nodes, self.rng)
        if not first.size:
            return logits.new_zeros(())
        p = logits[torch.from_numpy(second).to(logits.device)].softmax(dim=1)
        wrong = labels[torch.from_numpy(places[first]).to(logits.device)].unsqueeze(1)
        return -torch.log1p(-p.gather(1, wrong).clamp_max(MOST)).mean()


class StagedLoss(AdaptiveLoss):
    """The same loss with S = the pseudo-labels of the stage, which stay the same in all epochs."""

    def __init__(self, problem: Problem, targets: Targets, loss: NodeLoss, part: Adaptive) -> None:
        super().__init__(problem, targets, loss, part)
        self.true = targets.true
        rows = torch.arange(targets.true, targets.nodes.size, device=self.labels.device)
        labels, self.labels = self.labels[targets.true :], self.labels[: targets.true]
        counts = torch.bincount(labels, minlength=problem.graph.num_classes)
        self.staged = rows, labels, 1.0 / counts[labels].float()

    def pseudo_labels(self, _logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rows of S, their pseudo-labels and 1/n_ȳ."""
        return self.staged


@dataclass(frozen=True)
class Adaptive:
    """Makes :class:`AdaptiveLoss`, the objective of a Network that selects pseudo-labels in every epoch."""

    threshold: float = 0.7  # τ
    pseudo_weight: float = 0.1  # λ
    negative_weight: float = 0.1  # λ₁
    negatives: int = 0  # pairs per epoch; 0: one for every labelled or pseudo-labelled node

    staged: bool = False  # S is selected once per stage, not in every epoch

    def __call__(self, problem: Problem, targets: Targets, loss: NodeLoss) -> AdaptiveLoss:
        return (StagedLoss if self.staged else AdaptiveLoss)(problem, targets, loss, self)


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
