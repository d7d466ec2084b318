"""Select parts that wrap select parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.errors import SettingError
from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.select.threshold import Select


@dataclass(frozen=True)
class Union:
    """S_a ∪ S_b. A node to which both give a class, but not the same, keeps the one of ``a``."""

    a: Select
    b: Select

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        return self.a(beliefs).union(self.b(beliefs))


@dataclass(frozen=True)
class Intersection:
    """The nodes that ``a`` and ``b`` both choose, with the same class."""

    a: Select
    b: Select

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        first, second = self.a(beliefs), self.b(beliefs)
        nodes, here, there = np.intersect1d(first.nodes, second.nodes, assume_unique=True, return_indices=True)
        same = first.labels[here] == second.labels[there]
        return PseudoLabels.of(nodes[same], first.labels[here][same])


@dataclass(frozen=True)
class Agree:
    """What ``a`` chooses but for nodes to which ``b`` gives another class: b may veto, its silence is consent."""

    a: Select
    b: Select

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        first, second = self.a(beliefs), self.b(beliefs)
        other = np.full(beliefs.graph.num_nodes, -1, dtype=np.int64)
        other[second.nodes] = second.labels
        keep = (other[first.nodes] < 0) | (other[first.nodes] == first.labels)
        return PseudoLabels.of(first.nodes[keep], first.labels[keep])


@dataclass(frozen=True)
class Alternatives:
    """The k-th part in stage k: for recipes whose stages are alternatives of which validation keeps the best."""

    parts: tuple[Select, ...]

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        if not beliefs.split.val.size:
            raise SettingError(
                "the best of several alternatives is found on validation nodes, and there are none: "
                "run one of them by its own name, or give the split validation nodes"
            )
        return self.parts[min(beliefs.next_stage, len(self.parts)) - 1](beliefs)
