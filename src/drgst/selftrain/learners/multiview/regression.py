"""Weighted softmax regression: a convex problem, so the result does not depend on a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from drgst.graph.transforms.softmax import log_softmax
from drgst.nn.losses import NodeLoss, cross_entropy

STEPS = 30  # iterations of L-BFGS


@dataclass(frozen=True)
class SoftmaxRegression:
    """min over W, b of Σ_i w_i l(y_i, softmax(z_i W + b)) / Σ_i w_i + λ/2 ‖W‖², λ = ``l2``."""

    classes: int
    l2: float
    loss: NodeLoss = cross_entropy

    def fit(self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[Tensor, Tensor]:
        """W, (D, C), and b, (C,), for (M, D) ``rows``: L-BFGS from zero with a strong Wolfe line search."""
        z = torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32))
        y = torch.from_numpy(np.array(labels, dtype=np.int64))
        w = torch.from_numpy((weights / weights.sum()).astype(np.float32))
        weight = torch.zeros(z.shape[1], self.classes, requires_grad=True)
        bias = torch.zeros(self.classes, requires_grad=True)
        optimiser = torch.optim.LBFGS([weight, bias], max_iter=STEPS, history_size=10, line_search_fn="strong_wolfe")

        def closure() -> Tensor:
            optimiser.zero_grad()
            value = w.dot(self.loss(torch.addmm(bias, z, weight), y)) + self.l2 / 2 * weight.square().sum()
            value.backward()
            return value

        optimiser.step(closure)
        return weight.detach(), bias.detach()


def linear_log_probs(rows: np.ndarray, weight: Tensor, bias: Tensor) -> np.ndarray:
    """log softmax(z W + b), (N, C) float64."""
    return log_softmax(rows @ weight.numpy() + bias.numpy())
