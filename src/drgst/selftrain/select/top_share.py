"""Select and weigh for drgst-plus: a growing share of the pool, anchored by the true labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.select.rank import best_of_each
from drgst.selftrain.weigh.information_gain import Weights, normalised_gain


@dataclass(frozen=True)
class TopShare:
    """The share ρ_k of the pool whose confidence max_j p_uj is highest; k counts the stages, the last ρ stays.

    All classes compete, as none is assumed to be as large as another; but of each predicted class at least the
    share φ ρ_k is taken, so that none is starved.
    """

    shares: tuple[float, ...] = (0.4, 0.6, 0.7)
    floor: float = 0.75  # φ

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        pool = beliefs.candidates
        share = self.shares[min(beliefs.next_stage, len(self.shares)) - 1]
        score, labels = beliefs.confidence[pool], beliefs.predictions[pool]
        order = np.argsort(-score, kind="stable")[: int(share * pool.size)]
        least = (self.floor * share * np.bincount(labels, minlength=beliefs.graph.num_classes)).astype(np.int64)
        nodes = pool[np.union1d(order, best_of_each(score, labels, least))]
        return PseudoLabels.of(nodes, beliefs.predictions[nodes])


@dataclass(frozen=True)
class Anchored:
    """w = σ Σ_u w_u / |V_L| on V_L, so that the few true labels weigh σ of all pseudo-labels, however many.

    On S_U w_u = (1 - γ) + γ B_u / mean B: γ = ``gain`` mixes information gain in, 0 leaves all alike.
    """

    uses_gain: ClassVar[bool] = True

    share: float = 0.3
    gain: float = 0.5

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        true = beliefs.split.train.size
        weights = (1 - self.gain) + self.gain * normalised_gain(beliefs.gain[pseudo.nodes], 1.0)
        return Weights(np.full(true, self.share * weights.sum() / max(true, 1)), weights)
