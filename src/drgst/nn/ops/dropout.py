"""Dropout whose masks come from an explicit generator."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from drgst.nn.ops.sparse import Hidden, SparseMatrix
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
