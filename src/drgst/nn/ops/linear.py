"""X W + b with the initialisation that all networks share."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from drgst.nn.ops.sparse import Hidden, thin_product


def weight(start: str, *shape: int) -> nn.Parameter:
    """W ~ U(-a, a) with a = sqrt(6 / (fan_in + fan_out)) (``"glorot"``) or a = 1 / sqrt(fan_out) (``"uniform"``).

    The published program initialises with ``"uniform"``.
    """
    if start == "glorot":
        return nn.Parameter(nn.init.xavier_uniform_(torch.empty(*shape)))
    bound = 1.0 / shape[-1] ** 0.5
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))


def bias(start: str, size: int) -> nn.Parameter:
    """b = 0 (``"glorot"``) or b ~ U(-a, a) with a = 1 / sqrt(size) (``"uniform"``)."""
    return weight(start, size) if start == "uniform" else nn.Parameter(torch.zeros(size))


class Linear(nn.Module):
    """X W + b, (N, F) -> (N, D), for sparse or dense X."""

    def __init__(self, inputs: int, outputs: int, start: str = "glorot") -> None:
        super().__init__()
        self.weight = weight(start, inputs, outputs)
        self.bias = bias(start, outputs)

    def product(self, x: Hidden) -> Tensor:
        """X W without the bias."""
        return thin_product(x, self.weight)

    def forward(self, x: Hidden) -> Tensor:
        return self.product(x) + self.bias
