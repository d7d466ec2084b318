"""Weighted softmax regression: a convex problem, so one answer, with no epochs to choose."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from drgst.nn.losses import NodeLoss, cross_entropy


def fit_linear(
    rows: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    classes: int,
    l2: float,
    loss: NodeLoss = cross_entropy,
    steps: int = 30,
) -> tuple[Tensor, Tensor]:
    """min over W, b of Σ_i w_i l(y_i, softmax(z_i W + b)) / Σ_i w_i + λ/2 ‖W‖², (D, C) and (C,).

    L-BFGS from zero, ``steps`` iterations with a strong Wolfe line search. ``rows`` is (M, D).
    """
    z = torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32))
    y = torch.from_numpy(np.array(labels, dtype=np.int64))
    w = torch.from_numpy((weights / weights.sum()).astype(np.float32))
    weight = torch.zeros(z.shape[1], classes, requires_grad=True)
    bias = torch.zeros(classes, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=steps, history_size=10, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimiser.zero_grad()
        value = w.dot(loss(torch.addmm(bias, z, weight), y)) + l2 / 2 * weight.square().sum()
        value.backward()
        return value

    optimiser.step(closure)
    return weight.detach(), bias.detach()


def read(rows: np.ndarray, weight: Tensor, bias: Tensor) -> np.ndarray:
    """log softmax(z W + b), (N, C) float64."""
    return log_softmax(rows @ weight.numpy() + bias.numpy())


def log_softmax(z: np.ndarray) -> np.ndarray:
    """z - log Σ_c exp z_c, (N, C) float64."""
    z = np.float64(1) * (z - z.max(axis=1, keepdims=True))
    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))
