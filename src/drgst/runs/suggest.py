"""What to label next: nodes that would teach the model most, and not all the same thing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from drgst.errors import SettingError
from drgst.uncertainty.entropy import entropy

SHORTLIST = 100  # candidates looked at for each node that is asked for


@dataclass(frozen=True, eq=False)
class Suggested:
    """Nodes in the order in which they are worth labelling, their worth, and how many alike each stands for."""

    nodes: np.ndarray  # (n,)
    worth: np.ndarray  # (n,)
    stands_for: np.ndarray  # (n,) candidates in its cluster
    measure: str  # what the worth is


def suggest_nodes(
    embedding: np.ndarray, gain: np.ndarray, probabilities: np.ndarray, candidates: np.ndarray, n: int, seed: int = 0
) -> Suggested:
    """One node of each of n clusters: u_j = argmin_{u ∈ S_j, B_u ≥ med_j} ‖ĥ_u - μ_j‖, largest B first.

    The clusters minimise Σ_j Σ_{u ∈ S_j} B_u ‖ĥ_u - μ_j‖²: k-means weighted by B puts them where the gain is. ĥ =
    h/‖h‖ are the unit-length rows of ``embedding`` (N, D), B is ``gain`` (N,), what the label of a node would tell
    about the network's weights, and med_j its median in S_j. Nodes of a cluster would teach much the same, so one
    stands for it: not the one of largest B, which is an outlier more often than not, but the most typical one of the
    upper half. Only the ``100 n`` candidates of largest B are clustered. Where B is unknown or nowhere above 0, the
    entropy of ``probabilities`` takes its place. Fewer than n candidates give all of them.
    """
    if n < 1:
        raise SettingError(f"n is {n}, but at least 1 node must be asked for")
    worth, measure = _worth(gain, probabilities, candidates)
    short = candidates[np.argsort(-worth[candidates], kind="stable")[: SHORTLIST * n]]
    if short.size <= n:
        return Suggested(short, worth[short], np.ones(short.size, np.int64), measure)
    cluster, distance = _clusters(_unit(embedding[short]), worth[short], n, seed)
    picked = np.array([_typical(np.flatnonzero(cluster == j), worth[short], distance) for j in np.unique(cluster)])
    alike = np.bincount(cluster)[cluster[picked]]
    rest = np.setdiff1d(np.arange(short.size), picked)[: n - picked.size]  # equal rows give fewer clusters than n
    picked, alike = np.concatenate([picked, rest]), np.concatenate([alike, np.ones(rest.size, np.int64)])
    order = np.argsort(picked, kind="stable")  # short falls in worth
    return Suggested(short[picked[order]], worth[short[picked[order]]], alike[order], measure)


def _typical(members: np.ndarray, worth: np.ndarray, distance: np.ndarray) -> int:
    """The member nearest to the centre among those of at least median worth."""
    upper = members[worth[members] >= np.median(worth[members])]
    return int(upper[np.argmin(distance[upper])])


def _worth(gain: np.ndarray, probabilities: np.ndarray, candidates: np.ndarray) -> tuple[np.ndarray, str]:
    seen = gain[candidates]
    if np.isfinite(seen).all() and (seen > 0).any():
        return np.maximum(gain, 0), "information gain"
    return entropy(torch.from_numpy(np.array(probabilities))).numpy(), "entropy"


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of unit length; rows of zeros stay zero."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows, dtype=np.float64), where=length > 0)


def _clusters(rows: np.ndarray, weights: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The cluster of each row, numbered from 0 without gaps, and its distance from the cluster's centre."""
    from sklearn.cluster import KMeans

    distinct = np.unique(rows, axis=0).shape[0]
    floor = weights.max() * 1e-9  # a weight of 0 would leave a cluster without a place
    means = KMeans(min(n, distinct), n_init=3, random_state=seed).fit(rows, sample_weight=weights + floor)
    distance = np.linalg.norm(rows - means.cluster_centers_[means.labels_], axis=1)
    return np.unique(means.labels_, return_inverse=True)[1], distance
