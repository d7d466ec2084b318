"""Maps of embeddings in the plane; the next one starts from the one before, so that points keep their places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

PERPLEXITY = 30
EARLY, LATE, MOVE = 120, 280, 120  # iterations: pulled together, without, and for each further map
MOST = 4000  # points of a map


def chained_maps(embeddings: Sequence[np.ndarray], seed: int = 0) -> list[np.ndarray]:
    """argmin_Y KL(P ‖ Q), t-SNE of each embedding (N, D), as a list of (N, 2).

    The first starts from principal components. Every further one starts from where the one before ended, with no
    early exaggeration: a point moves as far as its neighbours have changed and no further.
    """
    placed: list[np.ndarray] = []
    for rows in embeddings:
        rows = np.asarray(rows, dtype=np.float64)
        placed.append(_move(rows, placed[-1], seed) if placed else _first(rows, seed))
    return placed


def sample(nodes: np.ndarray, seed: int, most: int = MOST) -> np.ndarray:
    """``nodes``, or ``most`` of them drawn at random, sorted."""
    if nodes.size <= most:
        return nodes
    return np.sort(np.random.default_rng(seed).choice(nodes, most, replace=False))


def _first(rows: np.ndarray, seed: int) -> np.ndarray:
    from openTSNE import initialization

    start = initialization.rescale(_principal(rows))
    placed = _embedding(rows, start, seed)
    placed.optimize(n_iter=EARLY, exaggeration=12, momentum=0.5, inplace=True)
    placed.optimize(n_iter=LATE, momentum=0.8, inplace=True)
    return np.asarray(placed)


def _move(rows: np.ndarray, start: np.ndarray, seed: int) -> np.ndarray:
    placed = _embedding(rows, start, seed)
    placed.optimize(n_iter=MOVE, momentum=0.5, inplace=True)
    return np.asarray(placed)


def _embedding(rows: np.ndarray, start: np.ndarray, seed: int) -> Any:
    from openTSNE import TSNEEmbedding, affinity

    perplexity = min(PERPLEXITY, (rows.shape[0] - 1) / 3)
    near = affinity.PerplexityBasedNN(rows, perplexity=perplexity, n_jobs=1, random_state=seed)
    return TSNEEmbedding(start.copy(), near, n_jobs=1, random_state=seed)  # one thread: the same sums, the same map


def _principal(rows: np.ndarray) -> np.ndarray:
    """The two leading principal components, (N, 2); zeros where a column is missing."""
    centred = rows - rows.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1][:, :2]
    signs = np.sign(turned[np.abs(turned).argmax(axis=0), np.arange(turned.shape[1])])
    return np.pad(turned * np.where(signs == 0, 1, signs), ((0, 0), (0, 2 - turned.shape[1])))
