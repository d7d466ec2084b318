"""Select a share of the pool that grows with the stages, as in drgst-plus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.select.top_per_class import best_of_each


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
        score, labels = beliefs.confidence[pool], beliefs.predictions[pool]
        order = np.argsort(-score, kind="stable")[: int(share * pool.size)]
        least = (self.floor * share * np.bincount(labels, minlength=beliefs.graph.num_classes)).astype(np.int64)
        taken = np.zeros(pool.size, dtype=bool)
        taken[order] = True
        taken[best_of_each(score, labels, least)] = True
        nodes = pool[taken]
        return PseudoLabels.of(nodes, beliefs.predictions[nodes])
