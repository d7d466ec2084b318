"""Dropout from cheap random bytes of an explicit generator."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from drgst.nn.ops.sparse import SparseMatrix


def generator(*seed: int) -> np.random.Generator:
    """An independent stream for each tuple of whole numbers (seed, stage, purpose, …)."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([int(s) for s in seed])))


def keep_scale(size: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    """z_i / (1 - p) with z_i ~ Bernoulli(1 - p), (size,) float32.

    One random bit an element at p = 0.5, one byte where 256 p is whole, two bytes otherwise (p is then met to
    within 2^-17, and the scale follows the p that is really drawn, so the mean stays exactly 1).
    """
    if rate == 0.5:
        bits = np.frombuffer(rng.bytes(math.ceil(size / 8)), dtype=np.uint8)
        return np.unpackbits(bits, count=size).astype(np.float32) * np.float32(2.0)
    levels, width = (256, 1) if (rate * 256).is_integer() else (65536, 2)
    cut = min(round(rate * levels), levels - 1)
    draws: np.ndarray = np.frombuffer(rng.bytes(size * width), dtype=f"u{width}")
    return (draws >= cut).astype(np.float32) * np.float32(levels / (levels - cut))


class Dropout(nn.Module):
    """h ∘ z / (1 - p) in training, h otherwise; for dense tensors and for the values of a sparse matrix."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.rng: np.random.Generator | None = None  # handed in by the training, see hand_out

    def forward(self, h: Tensor | SparseMatrix) -> Tensor | SparseMatrix:
        """The dropped version of ``h``, of the same shape."""
        if not self.training or self.rate == 0:
            return h
        if self.rng is None:
            raise RuntimeError("this Dropout has no generator; call hand_out(module, rng) first")
        return drop(h, self.rate, self.rng)


def drop(h: Tensor | SparseMatrix, rate: float, rng: np.random.Generator) -> Tensor | SparseMatrix:
    """h ∘ z / (1 - p) for a dense tensor or the values of a sparse matrix."""
    if isinstance(h, SparseMatrix):
        return h.with_values(h.scipy.data * keep_scale(h.scipy.nnz, rate, rng))
    scale = torch.from_numpy(keep_scale(h.numel(), rate, rng)).to(h.device)
    return h * scale.view(h.shape)


def hand_out(module: nn.Module, rng: np.random.Generator) -> None:
    """Give every :class:`Dropout` inside ``module`` the generator ``rng``."""
    for part in module.modules():
        if isinstance(part, Dropout):
            part.rng = rng
