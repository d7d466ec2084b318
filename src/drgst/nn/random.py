"""Explicit random generators, and dropout masks from random bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


def generator(*seed: int) -> np.random.Generator:
    """An independent random stream for each tuple of integers (seed, stage, purpose, …)."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([int(s) for s in seed])))


@contextmanager
def seeded_torch(rng: np.random.Generator) -> Iterator[None]:
    """Seed torch's global generator from ``rng`` inside the context, and restore its state afterwards."""
    import torch  # slow to import

    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(int(rng.integers(2**63)))
        yield


def keep_scale(size: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    """z_i / (1 - p) with z_i ~ Bernoulli(1 - p), (size,) float32.

    Uses one random bit per element at p = 0.5, one byte if 256 p is an integer, else two bytes (p is then exact to
    2^-17, and the scale uses the p that is drawn, so that the mean is 1).
    """
    if rate == 0.5:
        bits = np.frombuffer(rng.bytes(math.ceil(size / 8)), dtype=np.uint8)
        return np.unpackbits(bits, count=size).astype(np.float32) * np.float32(2.0)
    levels, width = (256, 1) if (rate * 256).is_integer() else (65536, 2)
    cut = min(round(rate * levels), levels - 1)
    draws: np.ndarray = np.frombuffer(rng.bytes(size * width), dtype=f"u{width}")
    return (draws >= cut).astype(np.float32) * np.float32(levels / (levels - cut))
