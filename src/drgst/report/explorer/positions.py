"""Where each node stands on the map: two dimensions, computed once, the same for every stage."""

from __future__ import annotations

import numpy as np

PERPLEXITY = 20  # neighbours that count, about
EARLY, LATE = 100, 250  # iterations with clusters pulled together, and without
WIDTH = 20  # principal components that neighbours are looked for in
FEW = 10  # nodes below which principal components do


def positions(embedding: np.ndarray, seed: int = 0) -> np.ndarray:
    """argmin_Y KL(P ‖ Q): t-SNE of ``embedding`` (N, D) from its principal components, scaled to [0, 1]², (N, 2).

    P are neighbour probabilities among the rows of the embedding, Q those of a Student t among the rows of Y
    (van der Maaten, Hinton 2008). Starting from principal components makes it repeatable, and keeps far things
    far. One thread: sums in another order would give another map.
    """
    reduced = _principal(np.asarray(embedding, dtype=np.float64))
    flat = reduced[:, :2]
    if reduced.shape[0] >= FEW and np.unique(reduced, axis=0).shape[0] >= FEW:
        flat = _tsne(reduced, flat, seed)
    return _unit_square(flat)


def _principal(rows: np.ndarray) -> np.ndarray:
    """The leading principal components, (N, 2 … WIDTH); columns of zeros where there are fewer than two."""
    centred = rows - rows.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1][:, :WIDTH]
    missing = max(0, 2 - turned.shape[1])
    return np.pad(turned, ((0, 0), (0, missing)))


def _tsne(rows: np.ndarray, start: np.ndarray, seed: int) -> np.ndarray:
    from openTSNE import TSNEEmbedding, affinity, initialization

    perplexity = min(PERPLEXITY, (rows.shape[0] - 1) / 3)
    near = affinity.PerplexityBasedNN(rows, perplexity=perplexity, n_jobs=1, random_state=seed)
    placed = TSNEEmbedding(initialization.rescale(start.copy()), near, n_jobs=1, random_state=seed)
    placed.optimize(n_iter=EARLY, exaggeration=12, momentum=0.5, inplace=True)
    placed.optimize(n_iter=LATE, momentum=0.8, inplace=True)
    return np.asarray(placed)


def _unit_square(flat: np.ndarray) -> np.ndarray:
    """The same picture in [0, 1]², both axes by the same scale, in the middle."""
    low, high = flat.min(axis=0), flat.max(axis=0)
    scale = max(float((high - low).max()), 1e-12)
    return (flat - (low + high) / 2) / scale + 0.5
