"""Softmax over the classes of a row."""

from __future__ import annotations

import numpy as np

DOUBLE_ROWS = 30_000  # up to which float64 costs little


def softmax(logits: np.ndarray) -> np.ndarray:
    """p_c = exp z_c / Σ_d exp z_d, (N, C) float64."""
    p = np.float64(1) * (logits - logits.max(axis=1, keepdims=True))
    np.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True)
    return np.asarray(p)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """log p_c = z_c - log Σ_d exp z_d, (N, C) float64.

    The row maximum is subtracted in the precision of ``logits``; all that follows is float64.
    """
    shifted = np.float64(1) * (logits - logits.max(axis=1, keepdims=True))
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def log_softmax_float32(logits: np.ndarray) -> np.ndarray:
    """log p_c = z_c - log Σ_d exp z_d, (N, C) float32; computed in float64 up to 30,000 rows."""
    if logits.shape[0] <= DOUBLE_ROWS:
        return log_softmax(logits).astype(np.float32)
    import torch  # slow to import

    return torch.log_softmax(torch.from_numpy(np.asarray(logits, dtype=np.float32)), 1).numpy()
