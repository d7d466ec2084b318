"""Which nodes to label next: those whose labels would be most informative, and different from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from drgst.errors import SettingError
from drgst.uncertainty.gain import entropy

SHORTLIST = 100  # candidates that are clustered per suggested node


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Nodes in order of their score, and how many similar nodes each represents."""

    nodes: np.ndarray  # (n,)
    score: np.ndarray  # (n,)
    cluster_size: np.ndarray  # (n,) candidates in its cluster
    measure: str  # the name of the score


def label_scores(gain: np.ndarray, probabilities: np.ndarray, candidates: np.ndarray) -> tuple[np.ndarray, str]:
    """B, (N,), and its name; the entropy of ``probabilities`` where B is unknown or nowhere above 0."""
    known = gain[candidates]
    if np.isfinite(known).all() and (known > 0).any():
        return np.maximum(gain, 0), "information gain"
    return entropy(torch.from_numpy(np.array(probabilities))).numpy(), "entropy"


def suggest_nodes(
    embedding: np.ndarray, scores: tuple[np.ndarray, str], candidates: np.ndarray, n: int, seed: int = 0
) -> Suggestions:
    """One node of each of n clusters: u_j = argmin_{u ∈ S_j, B_u ≥ med_j} ‖ĥ_u - μ_j‖, largest B first.

    The clusters minimise Σ_j Σ_{u ∈ S_j} B_u ‖ĥ_u - μ_j‖²: k-means weighted by B. ĥ = h/‖h‖ are the unit-length rows
    of ``embedding`` (N, D), B are the ``scores`` (N,) with their name (:func:`label_scores`), med_j is the median of
    B in S_j. Nodes of a cluster are similar, so one represents it: not the one of largest B, which often is an outlier,
    but the most typical one of the upper half. Only the ``100 n`` candidates of largest B are clustered. Fewer than n
    candidates give all of them.
    """
    if n < 1:
        raise SettingError(f"n is {n}, but must be at least 1")
    score, measure = scores
    short = candidates[np.argsort(-score[candidates], kind="stable")[: SHORTLIST * n]]
    if short.size <= n:
        return Suggestions(short, score[short], np.ones(short.size, np.int64), measure)
    cluster, distance = _clusters(_unit(embedding[short]), score[short], n, seed)
    picked = np.array([_typical(np.flatnonzero(cluster == j), score[short], distance) for j in np.unique(cluster)])
    similar = np.bincount(cluster)[cluster[picked]]
    rest = np.setdiff1d(np.arange(short.size), picked)[: n - picked.size]  # equal rows give fewer clusters than n
    picked, similar = np.concatenate([picked, rest]), np.concatenate([similar, np.ones(rest.size, np.int64)])
    order = np.argsort(picked, kind="stable")  # ``short`` is sorted by falling score
    return Suggestions(short[picked[order]], score[short[picked[order]]], similar[order], measure)


def _typical(members: np.ndarray, score: np.ndarray, distance: np.ndarray) -> int:
    """The member nearest to the centre among those of at least median score."""
    upper = members[score[members] >= np.median(score[members])]
    return int(upper[np.argmin(distance[upper])])


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of unit length; rows of zeros stay zero."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows, dtype=np.float64), where=length > 0)


def _clusters(rows: np.ndarray, weights: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The cluster of each row, numbered from 0 without gaps, and its distance from the cluster's centre."""
    from sklearn.cluster import KMeans

    distinct = np.unique(rows, axis=0).shape[0]
    floor = weights.max() * 1e-9  # a cluster in which every weight is 0 has no centre
    means = KMeans(min(n, distinct), n_init=3, random_state=seed).fit(rows, sample_weight=weights + floor)
    distance = np.linalg.norm(rows - means.cluster_centers_[means.labels_], axis=1)
    return np.unique(means.labels_, return_inverse=True)[1], distance
