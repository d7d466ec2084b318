"""Propagation of values along edges."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from drgst.graph.transforms.softmax import softmax


def propagate(s: sp.csr_array, start: np.ndarray, alpha: float, steps: int) -> np.ndarray:
    """G⁰ = Y, Gᵗ⁺¹ = (1-α) Y + α S Gᵗ, (N, D) for ``start`` = Y, (N, D), and a normalised adjacency S, (N, N)."""
    g = start
    for _ in range(steps):
        g = (1 - alpha) * start + alpha * (s @ g)
    return g


def propagate_to_limit(s: sp.csr_array, start: np.ndarray, restart: float, tolerance: float = 1e-6) -> np.ndarray:
    """α (I - (1-α) S)^-1 Y with α = ``restart``, (N, D), by :func:`propagate` until (1-α)ᵗ < ``tolerance``."""
    return propagate(s, start, 1 - restart, math.ceil(math.log(tolerance) / math.log(1 - restart)))


def smooth_log_probs(log_p: np.ndarray, s: sp.csr_array, steps: int = 5) -> np.ndarray:
    """log of G⁵ with rows made to sum to 1, G⁰ = p, Gᵗ⁺¹ = 0.2 p + 0.8 S Gᵗ, (N, C)."""
    p = np.maximum(propagate(s, softmax(log_p), 0.8, steps), 1e-12)
    return np.asarray(np.log(p / p.sum(axis=1, keepdims=True)))
