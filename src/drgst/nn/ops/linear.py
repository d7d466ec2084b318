"""X W + b, with the starting values that every network shares."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from drgst.errors import SettingError, unknown
from drgst.nn.models.base import Hidden, glorot, uniform
from drgst.nn.ops.sparse import thin_product

STARTS = ("glorot", "uniform")


def weight(start: str, *shape: int) -> nn.Parameter:
    """W by :func:`glorot`, or by :func:`uniform` as the published program starts."""
    if start not in STARTS:
        raise SettingError(unknown("start", start, STARTS))
    return uniform(*shape) if start == "uniform" else glorot(*shape)


def bias(start: str, size: int) -> nn.Parameter:
    """b = 0, or by :func:`uniform` as the published program starts."""
    return uniform(size) if start == "uniform" else nn.Parameter(torch.zeros(size))


class Linear(nn.Module):
    """X W + b, (N, F) -> (N, D), for sparse or dense X.

    ``parts`` matrices stand side by side in W, so that one product gives X W₀ … X W_parts-1 at once; each starts as
    if it stood alone. The bias has the width of one part.
    """

    def __init__(self, inputs: int, outputs: int, start: str = "glorot", parts: int = 1) -> None:
        super().__init__()
        columns = [weight(start, inputs, outputs).detach() for _ in range(parts)]
        self.weight = nn.Parameter(torch.cat(columns, dim=1))
        self.bias = bias(start, outputs)
        self.parts = parts

    def mix(self, x: Hidden) -> Tensor:
        """X W without the bias, (N, parts · D)."""
        return thin_product(x, self.weight)

    def split(self, x: Hidden) -> tuple[Tensor, ...]:
        """(X W₀, …, X W_parts-1), each (N, D)."""
        return self.mix(x).chunk(self.parts, dim=1)

    def forward(self, x: Hidden) -> Tensor:
        """X W + b, (N, D), for one part."""
        return self.mix(x) + self.bias
