"""Select by rank: the nodes of highest confidence, or of largest margin, of each predicted class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.graph.core import Graph
from drgst.selftrain.beliefs import Beliefs, PseudoLabels


def expansion(graph: Graph, train_labels: np.ndarray, hops: int = 2) -> np.ndarray:
    """t_k = int(3 η |L_k| / |L|) with η = n / d̄^τ, (C,): how many nodes of each class Li et al. 2018 add.

    d̄ is the mean degree and τ = ``hops`` the number of convolutions: η labelled nodes would reach the whole
    graph, and three times as many are wanted. 76 per class on Cora. At least 1: on a dense graph (Flickr) the
    rule itself gives 0, which would be no self-training at all.
    """
    eta = graph.num_nodes / max(float(graph.degrees.mean()), 1.0) ** hops
    counts = np.bincount(train_labels, minlength=graph.num_classes)
    return np.maximum((3 * eta * counts / counts.sum()).astype(np.int64), 1)


def class_counts(beliefs: Beliefs, top: int | None, share: int = 1, hops: int = 2) -> np.ndarray:
    """``top`` nodes per class, or t_k · |V_U| / (n - |V_L|) where it is None; divided by ``share``, at least 1, (C,).

    Li et al. take t_k nodes out of all unlabelled ones. Where the pool V_U is only a part of those (the paper's
    leaves out validation and test nodes: 1,068 of 2,568 on Cora), as large a part of t_k is taken, so that the
    selected nodes rank as high as theirs; all 76 per class would be half of Cora's pool.
    """
    if top is not None:
        counts = np.full(beliefs.graph.num_classes, top, dtype=np.int64)
    else:
        part = beliefs.split.pool.size / max(beliefs.graph.num_nodes - beliefs.split.train.size, 1)
        counts = (expansion(beliefs.graph, beliefs.train_labels, hops) * part).astype(np.int64)
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
    several stages. A class with fewer such nodes gives all it has.
    """

    top: int | None = None
    share: int = 1
    hops: int = 2

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        return _top(beliefs, beliefs.confidence, class_counts(beliefs, self.top, self.share, self.hops))


@dataclass(frozen=True)
class Margin:
    """The t_k nodes predicted as k of largest margin, for every class k: m_u = p_(1) - p_(2) decides.

    Confidence and margin differ where the rest of the probability lies on one class or on many. ``top``,
    ``share`` and ``hops`` as in :class:`TopPerClass`.
    """

    top: int | None = None
    share: int = 1
    hops: int = 2

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        return _top(beliefs, beliefs.margin, class_counts(beliefs, self.top, self.share, self.hops))


def _top(beliefs: Beliefs, score: np.ndarray, counts: np.ndarray) -> PseudoLabels:
    pool = beliefs.candidates
    labels = beliefs.predictions[pool]
    nodes = pool[best_of_each(score[pool], labels, counts)]
    return PseudoLabels.of(nodes, beliefs.predictions[nodes])
