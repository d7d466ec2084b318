"""What the parts of the loop are called with: the predictions of the teacher, and what is known about the graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.transforms.softmax import softmax


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the teacher of a stage predicts for every node, and everything that a part may know.

    ``graph`` shows the labels of training and validation nodes alone; all others are -1.
    """

    logits: np.ndarray  # z, (N, C)
    graph: Graph  # labels hidden but for train and val
    split: Split
    stage: int  # the number of the teacher's stage
    embedding: np.ndarray  # last hidden layer or logits, (N, D)
    gain: np.ndarray  # B, the information gain, (N,)
    seed: int = 0  # for parts that draw
    next_stage: int = 1  # the number of the stage that pseudo-labels are selected for
    previous: PseudoLabels = field(default_factory=lambda: PseudoLabels.empty())  # that the teacher was trained on
    excluded: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  # pool nodes that must not be selected

    @cached_property
    def probabilities(self) -> np.ndarray:
        return softmax(self.logits)

    @cached_property
    def confidence(self) -> np.ndarray:
        """r_i = max_j p_ij, (N,)."""
        return self.probabilities.max(axis=1)

    def confidence_of(self, nodes: np.ndarray) -> np.ndarray:
        """r of some nodes, (M,), without that of all others."""
        return softmax(self.logits[nodes]).max(axis=1)

    @cached_property
    def margin(self) -> np.ndarray:
        """p_(1) - p_(2), the margin of the first class over the second, (N,)."""
        top = np.partition(self.probabilities, -2, axis=1)
        return top[:, -1] - top[:, -2]

    @cached_property
    def predictions(self) -> np.ndarray:
        """ȳ_i = argmax_j p_ij, (N,)."""
        return self.logits.argmax(axis=1)

    @cached_property
    def candidates(self) -> np.ndarray:
        """The nodes to select from: the pool without ``excluded``, sorted."""
        if not self.excluded.size:
            return self.split.pool
        return np.setdiff1d(self.split.pool, self.excluded, assume_unique=True)

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
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))

    def union(self, later: PseudoLabels) -> PseudoLabels:
        """Both sets; a node in both keeps its label of this one."""
        fresh = ~np.isin(later.nodes, self.nodes)
        return PseudoLabels.of(
            np.concatenate([self.nodes, later.nodes[fresh]]), np.concatenate([self.labels, later.labels[fresh]])
        )

    def agreement(self, other: PseudoLabels) -> float:
        """Share of the union of both sets that both hold with the same label; 1 for two empty sets."""
        _, here, there = np.intersect1d(self.nodes, other.nodes, return_indices=True)
        union = np.union1d(self.nodes, other.nodes).size
        return 1.0 if union == 0 else float((self.labels[here] == other.labels[there]).sum() / union)
