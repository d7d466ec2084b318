"""What the parts of the loop are handed: a network's beliefs, and what is known about the graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from drgst.graph.core import Graph
from drgst.graph.split import Split


def softmax(logits: np.ndarray) -> np.ndarray:
    """p_c = exp z_c / Σ_d exp z_d, (N, C) float64."""
    shifted = np.exp(np.float64(1) * (logits - logits.max(axis=1, keepdims=True)))
    return shifted / shifted.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the teacher of a stage believes of every node; the only thing that parts are handed.

    ``graph`` shows the labels of training nodes (and of validation nodes) alone: all others are -1, so no part
    can read what it must not know.
    """

    logits: np.ndarray  # z, (N, C)
    graph: Graph  # labels hidden but for train and val
    split: Split
    stage: int  # how many stages the teacher has behind it
    embedding: np.ndarray  # last hidden layer or logits, (N, D)
    gain: np.ndarray  # B, the information gain, (N,)
    seed: int = 0  # for parts that draw
    next_stage: int = 1  # the number of the stage that the choice is for
    kept: PseudoLabels = field(default_factory=lambda: PseudoLabels.empty())  # what stays from before, where it does

    @cached_property
    def probabilities(self) -> np.ndarray:
        """p, (N, C)."""
        return softmax(self.logits)

    @cached_property
    def confidence(self) -> np.ndarray:
        """r_i = max_j p_ij, (N,)."""
        return self.probabilities.max(axis=1)

    @cached_property
    def margin(self) -> np.ndarray:
        """p_(1) - p_(2), the t_statistic of the first class over the second, (N,)."""
        top = np.partition(self.probabilities, -2, axis=1)
        return top[:, -1] - top[:, -2]

    @cached_property
    def predictions(self) -> np.ndarray:
        """ȳ_i = argmax_j p_ij, (N,)."""
        return self.logits.argmax(axis=1)

    @cached_property
    def candidates(self) -> np.ndarray:
        """The pool without what is trusted already, sorted."""
        return np.setdiff1d(self.split.pool, self.kept.nodes, assume_unique=True)

    @property
    def train_labels(self) -> np.ndarray:
        """The true labels of the training nodes, in the order of ``split.train``."""
        return self.graph.labels[self.split.train]


@dataclass(frozen=True, eq=False)
class PseudoLabels:
    """S_U with its pseudo-labels: nodes sorted and unique, all from the pool."""

    nodes: np.ndarray  # (M,)
    labels: np.ndarray  # (M,)

    @classmethod
    def of(cls, nodes: np.ndarray, labels: np.ndarray) -> PseudoLabels:
        """Sorted by node."""
        order = np.argsort(nodes, kind="stable")
        return cls(np.asarray(nodes, np.int64)[order], np.asarray(labels, np.int64)[order])

    @classmethod
    def empty(cls) -> PseudoLabels:
        """The empty set."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))

    def union(self, later: PseudoLabels) -> PseudoLabels:
        """Both; a node in both keeps the label it has here."""
        fresh = ~np.isin(later.nodes, self.nodes)
        return PseudoLabels.of(
            np.concatenate([self.nodes, later.nodes[fresh]]), np.concatenate([self.labels, later.labels[fresh]])
        )

    def agreement(self, other: PseudoLabels) -> float:
        """Share of the union of both sets that both hold with the same label; 1 for two empty sets."""
        _, here, there = np.intersect1d(self.nodes, other.nodes, return_indices=True)
        union = np.union1d(self.nodes, other.nodes).size
        return 1.0 if union == 0 else float((self.labels[here] == other.labels[there]).sum() / union)
