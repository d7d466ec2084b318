"""Select parts that combine two others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.select.base import Select


@dataclass(frozen=True)
class Union:
    """S_a ∪ S_b. A node to which both give a class, but not the same, keeps the one of ``a``."""

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
class Agree:
    """S_a without the nodes to which ``b`` gives another class; a node that ``b`` does not select stays."""

    a: Select
    b: Select

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        first, second = self.a(beliefs), self.b(beliefs)
        other = np.full(beliefs.graph.num_nodes, -1, dtype=np.int64)
        other[second.nodes] = second.labels
        keep = (other[first.nodes] < 0) | (other[first.nodes] == first.labels)
        return PseudoLabels.of(first.nodes[keep], first.labels[keep])
