"""Training losses: weighted and corrected cross-entropy."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    import torch
    from torch import Tensor

SMALLEST = 1e-8  # smaller probabilities are set to this value before the logarithm


class Objective(Protocol):
    """A loss that depends on the logits of ``nodes``; it is called once per epoch."""

    nodes: np.ndarray  # (M,) node indices of the whole graph, unique

    def __call__(self, logits: Tensor, epoch: int, /) -> Tensor:
        """The scalar loss of the (M, C) logits of ``nodes``."""
        ...


NodeLoss = Callable[["Tensor", "Tensor"], "Tensor"]  # (M, C) logits and (M,) labels -> the loss of each node, (M,)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """l(y, p) = -log p_y with p = softmax(z), (M,) (Eq. objective_func)."""
    from torch.nn import functional as F  # slow to import

    return F.cross_entropy(logits, labels, reduction="none")


@dataclass(frozen=True)
class CorrectedCrossEntropy:
    """l(y, p T) = -log (Σ_k p_k T_ky) with T_kj = P(pseudo-label j | true label k), (M,).

    p is the student's output f_θ*, and f_θ̄ = Tᵀ p is compared with the pseudo-labels. T is constant. Entries of p T
    below 1e-8 (T is not constrained to be a distribution) are set to 1e-8.
    """

    transition: Tensor  # T, (C, C)

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        corrected = logits.softmax(dim=1) @ self.transition.to(logits.device)
        return -corrected.gather(1, labels.unsqueeze(1)).squeeze(1).clamp_min(SMALLEST).log()


def corrected_cross_entropy(transition: np.ndarray) -> CorrectedCrossEntropy:
    """:class:`CorrectedCrossEntropy` for T as an array, (C, C)."""
    import torch  # slow to import

    return CorrectedCrossEntropy(torch.from_numpy(transition).float())


class WeightedLoss:
    """1/M Σ_i w_i l(y_i, p_i) over labelled and pseudo-labelled nodes, M = |V_L ∪ S_U| (Eq. final_loss).

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
        import torch  # slow to import

        self.nodes = nodes
        self.labels = torch.from_numpy(np.array(labels, dtype=np.int64)).to(device)
        self.weights = torch.from_numpy(np.array(weights, dtype=np.float32)).to(device)
        self.loss = loss

    def __call__(self, logits: Tensor, _epoch: int) -> Tensor:
        return self.weights.dot(self.loss(logits, self.labels)) / len(self.nodes)

    def at(self, places: np.ndarray) -> WeightedLoss:
        """The loss of ``nodes[places]`` alone, M their number."""
        import torch

        part, index = copy(self), torch.from_numpy(places).to(self.labels.device)
        part.nodes, part.labels, part.weights = self.nodes[places], self.labels[index], self.weights[index]
        return part
