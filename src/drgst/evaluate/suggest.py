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
    """One node of each of n clusters: u_j = argmax_{u ∈ S_j} B_u, with min Σ_j Σ_{u ∈ S_j} B_u ‖ĥ_u - μ_j‖².

    ĥ = h/‖h‖ are the unit-length rows of ``embedding`` (N, D) and B ``gain`` (N,): what the label of a node would
    tell about the network's weights. k-means weighted by B gives clusters where the gain is; within a cluster nodes
    would teach the same, so its best one stands for it. Only the ``100 n`` candidates of largest B are clustered.
    Where B is unknown or nowhere above 0, the entropy of ``probabilities`` takes its place. Fewer than n
    candidates give all of them.
    """
    if n < 1:
        raise SettingError(f"n is {n}, but at least 1 node must be asked for")
    worth, measure = _worth(gain, probabilities, candidates)
    short = candidates[np.argsort(-worth[candidates], kind="stable")[: SHORTLIST * n]]
    if short.size <= n:
        return Suggested(short, worth[short], np.ones(short.size, np.int64), measure)
    cluster = _clusters(_unit(embedding[short]), worth[short], n, seed)
    _, first, sizes = np.unique(cluster, return_index=True, return_counts=True)  # short falls, so the first is best
    rest = np.setdiff1d(np.arange(short.size), first)[: n - first.size]  # where rows are equal, clusters are fewer
    order = np.argsort(first, kind="stable")
    picked = np.concatenate([first[order], rest])
    alike = np.concatenate([sizes[order], np.ones(rest.size, np.int64)])
    return Suggested(short[picked], worth[short[picked]], alike, measure)


def _worth(gain: np.ndarray, probabilities: np.ndarray, candidates: np.ndarray) -> tuple[np.ndarray, str]:
    seen = gain[candidates]
    if np.isfinite(seen).all() and (seen > 0).any():
        return np.maximum(gain, 0), "information gain"
    return entropy(torch.from_numpy(np.array(probabilities))).numpy(), "entropy"


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of unit length; rows of zeros stay zero."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows, dtype=np.float64), where=length > 0)


def _clusters(rows: np.ndarray, weights: np.ndarray, n: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    distinct = np.unique(rows, axis=0).shape[0]
    means = KMeans(min(n, distinct), n_init=3, random_state=seed)
    floor = weights.max() * 1e-9  # a weight of 0 would leave a cluster without a place
    return means.fit_predict(rows, sample_weight=weights + floor)
