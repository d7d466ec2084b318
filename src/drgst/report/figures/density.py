"""Densities in the plane and their ratio."""

from __future__ import annotations

import numpy as np


def gaussian(places: np.ndarray, sigma: float) -> np.ndarray:
    """N(x; 0, σ² I) at ``places`` (M, 2), (M,)."""
    return np.exp(-(places**2).sum(axis=1) / (2 * sigma**2)) / (2 * np.pi * sigma**2)


def kernel_density(points: np.ndarray, places: np.ndarray, bandwidth: float) -> np.ndarray:
    """p(x) = 1/n Σ_i N(x; x_i, h² I) of ``points`` (n, 2) at ``places`` (M, 2), (M,); 0 for no points."""
    if not points.size:
        return np.zeros(places.shape[0])
    apart = ((places[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-apart / (2 * bandwidth**2)).mean(axis=1) / (2 * np.pi * bandwidth**2)


def grid(half: float, steps: int) -> np.ndarray:
    """``steps``² places over [-half, half]², (steps², 2), rows from below."""
    line = np.linspace(-half, half, steps)
    x, y = np.meshgrid(line, line)
    return np.stack([x.ravel(), y.ravel()], axis=1)
