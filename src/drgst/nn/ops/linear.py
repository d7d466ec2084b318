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


class Weights(nn.Module):
    """W and b of a layer; W has ``parts`` matrices side by side, so that one product gives X W₀ … X W_parts-1.

    Each matrix is initialised as if it were alone. The bias has the width of one part.
    """

    def __init__(self, inputs: int, outputs: int, start: str = "glorot", parts: int = 1) -> None:
        super().__init__()
        columns = [weight(start, inputs, outputs).detach() for _ in range(parts)]
        self.weight = nn.Parameter(torch.cat(columns, dim=1))
        self.bias = bias(start, outputs)
        self.parts = parts

    def product(self, x: Hidden) -> Tensor:
        """X W without the bias, (N, parts · D)."""
        return thin_product(x, self.weight)

    def split(self, x: Hidden) -> tuple[Tensor, ...]:
        """(X W₀, …, X W_parts-1), each (N, D)."""
        return self.product(x).chunk(self.parts, dim=1)


class Linear(Weights):
    """X W + b, (N, F) -> (N, D), for sparse or dense X."""

    def forward(self, x: Hidden) -> Tensor:
        return self.product(x) + self.bias
