"""Select: which unlabelled nodes get a pseudo-label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from drgst.graph.core import Graph
from drgst.nn.random import generator
from drgst.selftrain.beliefs import Beliefs, PseudoLabels

Select = Callable[[Beliefs], PseudoLabels]  # of nodes of the pool


HOPS = 2  # convolutions of a GCN, in the rule of Li et al.


@dataclass(frozen=True)
class Nothing:
    """S_U = ∅: the teacher alone."""

    def __call__(self, _beliefs: Beliefs) -> PseudoLabels:
        return PseudoLabels.empty()


@dataclass(frozen=True)
class Threshold:
    """S_U = {u ∈ V_U : r_u > τ} with ȳ_u = argmax_j p_uj (Algorithm 1, line 3)."""

    threshold: float

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        nodes = beliefs.candidates[beliefs.confidence[beliefs.candidates] > self.threshold]
        return PseudoLabels.of(nodes, beliefs.predictions[nodes])


def expansion(graph: Graph, train_labels: np.ndarray) -> np.ndarray:
    """t_k = int(3 η |L_k| / |L|) with η = n / d̄^τ, (C,): how many nodes of each class Li et al. 2018 add.

    d̄ is the mean degree and τ = 2 the number of convolutions: η labelled nodes would reach the whole
    graph, and three times as many are wanted. 76 per class on Cora. At least 1: on a dense graph (Flickr) the
    rule itself gives 0, which would be no self-training at all.
    """
    eta = graph.num_nodes / max(float(graph.degrees.mean()), 1.0) ** HOPS
    counts = np.bincount(train_labels, minlength=graph.num_classes)
    return np.maximum((3 * eta * counts / counts.sum()).astype(np.int64), 1)


def class_counts(beliefs: Beliefs, top: int | None, share: int = 1) -> np.ndarray:
    """``top`` nodes per class, or t_k · |V_U| / (n - |V_L|) where it is None; divided by ``share``, at least 1, (C,).

    Li et al. take t_k nodes out of all unlabelled ones. Where the pool V_U is only a part of those (the paper's
    leaves out validation and test nodes: 1,068 of 2,568 on Cora), as large a part of t_k is taken, so that the
    selected nodes rank as high as theirs; all 76 per class would be half of Cora's pool.
    """
    if top is not None:
        counts = np.full(beliefs.graph.num_classes, top, dtype=np.int64)
    else:
        part = beliefs.split.pool.size / max(beliefs.graph.num_nodes - beliefs.split.train.size, 1)
        counts = (expansion(beliefs.graph, beliefs.train_labels) * part).astype(np.int64)
    return np.maximum(counts // share, 1)


def best_of_each(score: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Places of the counts_k highest scores among those labelled k, for every k; fewer where there are fewer.

    ``score`` and ``labels`` are (M,). Of equal scores the earlier place wins.
    """
    order = np.lexsort((np.arange(score.size), -score, labels))
    firsts = np.searchsorted(labels[order], labels[order], side="left")
    rank = np.arange(order.size) - firsts
    return np.sort(order[rank < counts[labels[order]]])


@dataclass(frozen=True)
class TopPerClass:
    """The t_k most confident of the nodes predicted as k, for every class k: r_u = max_j p_uj decides.

    ``top`` nodes per class; None: t_k of Li et al. (:func:`expansion`). ``share`` divides them, for methods of
    several stages. A class with fewer such nodes contributes all of them.
    """

    top: int | None = None
    share: int = 1

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        return _top(beliefs, beliefs.confidence, class_counts(beliefs, self.top, self.share))


@dataclass(frozen=True)
class Margin:
    """The t_k nodes predicted as k of largest margin, for every class k: m_u = p_(1) - p_(2) decides.

    Confidence and margin differ where the rest of the probability lies on one class or on many. ``top``
    as in :class:`TopPerClass`.
    """

    top: int | None = None

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        return _top(beliefs, beliefs.margin, class_counts(beliefs, self.top))


def _top(beliefs: Beliefs, score: np.ndarray, counts: np.ndarray) -> PseudoLabels:
    pool = beliefs.candidates
    labels = beliefs.predictions[pool]
    nodes = pool[best_of_each(score[pool], labels, counts)]
    return PseudoLabels.of(nodes, beliefs.predictions[nodes])


@dataclass(frozen=True)
class TopShare:
    """The share ρ_k of the pool of highest confidence max_j p_uj in stage k; after the last ρ it stays.

    Of a pool of more than ``most`` nodes, every k-th is looked at.

    All classes compete, as none is assumed to be as large as another; but of each predicted class at least the
    share φ ρ_k is taken.
    """

    shares: tuple[float, ...] = (0.4, 0.6, 0.7)
    floor: float = 0.75  # φ
    most: int = 100_000  # of the pool that are looked at: every k-th node, since no learner is fitted to more

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        pool = beliefs.candidates
        pool = pool[:: -(-pool.size // self.most)] if pool.size > self.most else pool
        share = self.shares[min(beliefs.next_stage, len(self.shares)) - 1]
        score, labels = beliefs.confidence_of(pool), beliefs.logits[pool].argmax(axis=1)
        order = np.argsort(-score, kind="stable")[: int(share * pool.size)]
        least = (self.floor * share * np.bincount(labels, minlength=beliefs.graph.num_classes)).astype(np.int64)
        taken = np.zeros(pool.size, dtype=bool)
        taken[order] = True
        taken[best_of_each(score, labels, least)] = True
        return PseudoLabels.of(pool[taken], labels[taken])


@dataclass(frozen=True)
class Union:
    """S_a ∪ S_b. A node to which both give different classes keeps that of ``a``."""

    a: Select
    b: Select

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        return self.a(beliefs).union(self.b(beliefs))


@dataclass(frozen=True)
class Intersection:
    """S_a ∩ S_b: the nodes that ``a`` and ``b`` both select, with the same class."""

    a: Select
    b: Select

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        first, second = self.a(beliefs), self.b(beliefs)
        nodes, here, there = np.intersect1d(first.nodes, second.nodes, assume_unique=True, return_indices=True)
        same = first.labels[here] == second.labels[there]
        return PseudoLabels.of(nodes[same], first.labels[here][same])


@dataclass(frozen=True)
class Accumulate:
    """S_U of stage k = S_U of its teacher ∪ what ``inner`` selects from the rest of the pool.

    A node keeps the pseudo-label that it was given first.
    """

    inner: Select

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        before = beliefs.previous
        return before.union(self.inner(replace(beliefs, excluded=before.nodes)))


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
