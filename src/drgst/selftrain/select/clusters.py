"""Select checked by clusters that are aligned with classes, as in M3S."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.nn.random import generator
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.select.base import Select

CLUSTERS = 2_000_003  # sets the generator of k-means apart from all others


def unit(embedding: np.ndarray) -> np.ndarray:
    """h_u / ‖h_u‖, (N, D) float64; rows of zeros stay zero."""
    h = np.asarray(embedding, dtype=np.float64)
    length = np.linalg.norm(h, axis=1, keepdims=True)
    return np.divide(h, length, out=np.zeros_like(h), where=length > 0)


def class_centroids(h: np.ndarray, nodes: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
    """μ_k = mean of h over the labelled nodes of class k, (C, D)."""
    total = np.zeros((classes, h.shape[1]))
    np.add.at(total, labels, h[nodes])
    return total / np.maximum(np.bincount(labels, minlength=classes), 1)[:, None]


def align(centres: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """c(l) = argmin_k ‖ν_l - μ_k‖², the class of each cluster centre ν_l, (K,)."""
    products = centres @ centroids.T
    return ((centroids**2).sum(axis=1) - 2 * products).argmin(axis=1)


def kmeans(points: np.ndarray, clusters: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(centres (K, D), cluster of every point (M,)) by k-means; never more clusters than points."""
    from sklearn.cluster import KMeans

    count = min(clusters, points.shape[0])
    seed = int(rng.integers(2**31))
    made = KMeans(count, random_state=seed, n_init=1, max_iter=100).fit(points)
    return made.cluster_centers_, made.labels_


@dataclass(frozen=True)
class ClusterChecked:
    """{u ∈ S_inner : ȳ_u = c(cluster of u)}, with c as in :func:`align`.

    k-means on the unit-length embeddings of the pool into ``clusters`` clusters (None: min(200, |pool| / 5), and
    never more than there are nodes in the pool); each cluster takes the class of the nearest centroid of the
    true-labelled nodes.
    """

    inner: Select
    clusters: int | None = None

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        pseudo = self.inner(beliefs)
        if not pseudo.nodes.size:
            return pseudo
        pool, h = beliefs.split.pool, unit(beliefs.embedding)
        count = self.clusters or max(1, min(200, pool.size // 5))
        centres, member = kmeans(h[pool], count, generator(beliefs.seed, beliefs.stage, CLUSTERS))
        centroids = class_centroids(h, beliefs.split.train, beliefs.train_labels, beliefs.graph.num_classes)
        aligned = align(centres, centroids)[member]  # the class of each pool node's cluster
        keep = aligned[np.searchsorted(pool, pseudo.nodes)] == pseudo.labels
        return PseudoLabels.of(pseudo.nodes[keep], pseudo.labels[keep])
