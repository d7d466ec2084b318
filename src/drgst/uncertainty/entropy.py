"""Entropy and information gain of class probabilities."""

from __future__ import annotations

import torch
from torch import Tensor


def entropy(p: Tensor) -> Tensor:
    """H[p] = -Σ_d p_d log p_d over the last dimension, 0 log 0 = 0."""
    return -torch.xlogy(p, p).sum(dim=-1)


class GainStream:
    """B_u = H[1/T Σ_t p̃_u^t] - 1/T Σ_t H[p̃_u^t] from samples that come one by one (Eq. information_gain).

    Keeps Σ_t p̃ and Σ_t H[p̃], both in float64: memory (N, C) whatever T is.
    """

    def __init__(self, nodes: int, classes: int, device: torch.device | str = "cpu") -> None:
        self.total = torch.zeros(nodes, classes, dtype=torch.float64, device=device)
        self.entropies = torch.zeros(nodes, dtype=torch.float64, device=device)
        self.count = 0

    def add(self, p: Tensor) -> None:
        """Take in one sample p̃^t, (N, C)."""
        self.total += p
        self.entropies += entropy(p)
        self.count += 1

    @property
    def mean(self) -> Tensor:
        """p_u^G = 1/T Σ_t p̃_u^t, (N, C) (Eq. predictive_distribution)."""
        return self.total / self.count

    @property
    def gain(self) -> Tensor:
        """B, (N,); never below 0 (Jensen), so rounding below it is cut."""
        return (entropy(self.mean) - self.entropies / self.count).clamp_min(0.0)


def information_gain(samples: Tensor) -> Tensor:
    """B_u = H[mean_t p̃] - mean_t H[p̃] of (T, N, C) samples at once, (N,): for tests and small graphs."""
    stream = GainStream(samples.shape[1], samples.shape[2])
    for p in samples:
        stream.add(p)
    return stream.gain
