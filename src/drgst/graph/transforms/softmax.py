"""Softmax over the classes of a row."""

from __future__ import annotations

import numpy as np


def softmax(logits: np.ndarray) -> np.ndarray:
    """p_c = exp z_c / Σ_d exp z_d, (N, C) float64."""
    shifted = np.exp(np.float64(1) * (logits - logits.max(axis=1, keepdims=True)))
    return shifted / shifted.sum(axis=1, keepdims=True)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """log p_c = z_c - log Σ_d exp z_d, (N, C) float64.

    The row maximum is subtracted in the precision of ``logits``; all that follows is float64.
    """
    shifted = np.float64(1) * (logits - logits.max(axis=1, keepdims=True))
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
