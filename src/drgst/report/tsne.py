"""Maps of embeddings in the plane: t-SNE from principal components, the same map for the same embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from drgst.errors import warn

PERPLEXITY = 30
EARLY, LATE, MOVE = 100, 250, 120  # iterations: with early exaggeration, without, and for each further map
COMPONENTS = 20  # principal components in which neighbours are searched
FEW = 10  # nodes below which two principal components are the map
MOST = 4000  # nodes of a figure
LANDMARKS = 3000  # nodes of a page that are placed by t-SNE
NOISE = 0.004  # of the width of the map: keeps nodes with the same nearest landmarks apart
BLOCK = 4096  # rows of a table of distances at a time
NO_TSNE = (
    "the map shows the first two principal components: t-SNE needs openTSNE, which is not installed: "
    "pip install 'drgst[report]'"
)


def positions(embedding: np.ndarray, seed: int = 0) -> np.ndarray:
    """t-SNE of ``embedding`` (N, D), scaled to [0, 1]² with one scale for both axes, (N, 2).

    Of more than 3,000 nodes, 3,000 are landmarks, and every other node is placed among its three nearest landmarks.
    """
    rows = principal_components(embedding)
    if rows.shape[0] <= LANDMARKS:
        return to_square(tsne(rows, seed))
    rng = np.random.default_rng(seed)
    landmarks = np.sort(rng.choice(rows.shape[0], LANDMARKS, replace=False))
    placed = tsne(rows[landmarks], seed)
    return to_square(_among(rows, rows[landmarks], placed, rng))


def to_square(place: np.ndarray) -> np.ndarray:
    """``place`` (N, 2), scaled to [0, 1]² with one scale for both axes."""
    low, high = place.min(axis=0), place.max(axis=0)
    scale = max(float((high - low).max()), 1e-12)
    return (place - (low + high) / 2) / scale + 0.5


def _among(rows: np.ndarray, known: np.ndarray, placed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The mean position of the three nearest of ``known``, weighted by 1 / distance², and a little noise, (N, 2)."""
    found = np.empty((rows.shape[0], 2))
    squares = (known**2).sum(axis=1)
    for start in range(0, rows.shape[0], BLOCK):
        block = rows[start : start + BLOCK]
        apart = np.maximum(squares - 2 * block @ known.T + (block**2).sum(axis=1)[:, None], 0)
        near = np.argpartition(apart, 2, axis=1)[:, :3]
        weight = 1 / (np.take_along_axis(apart, near, axis=1) + 1e-9)
        found[start : start + BLOCK] = np.einsum("nk,nkd->nd", weight / weight.sum(axis=1, keepdims=True), placed[near])
    return found + rng.normal(scale=NOISE * np.ptp(placed, axis=0).max(), size=found.shape)


def chained_maps(embeddings: Sequence[np.ndarray], seed: int = 0) -> list[np.ndarray]:
    """t-SNE of each embedding (N, D), as a list of (N, 2).

    Each map after the first starts where the one before ended, without early exaggeration: a point moves as far as
    its neighbours have changed.
    """
    placed: list[np.ndarray] = []
    for embedding in embeddings:
        placed.append(tsne(principal_components(embedding), seed, placed[-1] if placed else None))
    return placed


def sample(nodes: np.ndarray, seed: int, most: int = MOST) -> np.ndarray:
    """``nodes``, or ``most`` of them drawn at random, sorted."""
    if nodes.size <= most:
        return nodes
    return np.sort(np.random.default_rng(seed).choice(nodes, most, replace=False))


def principal_components(rows: np.ndarray) -> np.ndarray:
    """The leading principal components, (N, 2 … 20), largest entry positive; zeros where there are fewer than two."""
    centred = rows - np.mean(rows, axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1][:, :COMPONENTS]
    signs = np.sign(turned[np.abs(turned).argmax(axis=0), np.arange(turned.shape[1])])
    return np.pad(turned * np.where(signs == 0, 1, signs), ((0, 0), (0, max(0, 2 - turned.shape[1]))))


def tsne(rows: np.ndarray, seed: int = 0, start: np.ndarray | None = None) -> np.ndarray:
    """argmin_Y KL(P ‖ Q), (N, 2), from ``start`` or the first two columns of ``rows`` (N, D).

    P are neighbour probabilities among the rows, Q those of a Student t among the rows of Y (van der Maaten, Hinton
    2008). One thread: sums in another order would give another map.
    """
    if rows.shape[0] < FEW or np.unique(rows, axis=0).shape[0] < FEW:
        return rows[:, :2]
    try:
        from openTSNE import TSNEEmbedding, affinity, initialization
    except ImportError:
        warn(NO_TSNE)
        return rows[:, :2]
    perplexity = min(PERPLEXITY, (rows.shape[0] - 1) / 3)
    near = affinity.PerplexityBasedNN(rows, perplexity=perplexity, n_jobs=1, random_state=seed)
    first = initialization.rescale(rows[:, :2].copy()) if start is None else start.copy()
    placed: Any = TSNEEmbedding(first, near, n_jobs=1, random_state=seed)
    if start is None:
        placed.optimize(n_iter=EARLY, exaggeration=12, momentum=0.5, inplace=True)
        placed.optimize(n_iter=LATE, momentum=0.8, inplace=True)
    else:
        placed.optimize(n_iter=MOVE, momentum=0.5, inplace=True)
    return np.asarray(placed)
