"""Layers that all networks share: dropout whose masks come from an explicit generator, and X W + b."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from drgst.nn.ops.sparse import Hidden, SparseMatrix, thin_product
from drgst.nn.random import keep_scale


def drop(h: Hidden, rate: float, rng: np.random.Generator) -> Hidden:
    """h ∘ z / (1 - p) for a dense tensor or the values of a sparse matrix."""
    if isinstance(h, SparseMatrix):
        return h.with_values(h.scipy.data * keep_scale(h.scipy.nnz, rate, rng))
    scale = torch.from_numpy(keep_scale(h.numel(), rate, rng)).to(h.device)
    return h * scale.view(h.shape)


class Dropout(nn.Module):
    """h ∘ z / (1 - p) in training, h otherwise; for dense tensors and for the values of a sparse matrix."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.rng: np.random.Generator | None = None  # set by set_generator

    def forward(self, h: Hidden) -> Hidden:
        """h after dropout, of the same shape."""
        if not self.training or self.rate == 0:
            return h
        if self.rng is None:
            raise RuntimeError("this Dropout has no generator; call set_generator(module, rng) first")
        return drop(h, self.rate, self.rng)


def set_generator(module: nn.Module, rng: np.random.Generator) -> None:
    """Set the generator of every :class:`Dropout` in ``module``."""
    for part in module.modules():
        if isinstance(part, Dropout):
            part.rng = rng


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
