"""Weigh: how much each pseudo-labelled node counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels


@dataclass(frozen=True, eq=False)
class Weights:
    """w of every training node and of every pseudo-labelled node."""

    true: np.ndarray  # (|V_L|,)
    pseudo: np.ndarray  # (|S_U|,)


Weigh = Callable[[Beliefs, PseudoLabels], Weights]


@dataclass(frozen=True)
class Uniform:
    """w = 1 for all: plain self-training, and the ablation -lc (B̄ = 1)."""

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        return Weights(np.ones(beliefs.split.train.size), np.ones(pseudo.nodes.size))


def normalised_gain(gain: np.ndarray, beta: float) -> np.ndarray:
    """B̄_u = B_u / (β · 1/|S_U| Σ_i B_i), (M,) (Eq. final_loss); 1/β each where every gain is zero."""
    mean = gain.mean(dtype=np.float64) if gain.size else 0.0
    return gain / (beta * mean) if mean > 0 else np.full(gain.shape, 1.0 / beta)


@dataclass(frozen=True)
class InformationGain:
    """w_u = B̄_u on S_U and 1 on V_L (Eq. final_loss).

    ``over_true=True`` is what the published program does: w = (B + 1e-6) / (β · mean) over V_L ∪ S_U alike.
    """

    requires: ClassVar[frozenset[str]] = frozenset({"gain"})

    beta: float
    over_true: bool = False

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        true = beliefs.split.train
        if not self.over_true:
            return Weights(np.ones(true.size), normalised_gain(beliefs.gain[pseudo.nodes], self.beta))
        both = normalised_gain(beliefs.gain[np.concatenate([true, pseudo.nodes])] + 1e-6, self.beta)
        return Weights(both[: true.size], both[true.size :])


@dataclass(frozen=True)
class Anchored:
    """w_u = (1 - γ) + γ B_u / mean B on S_U, and w = σ Σ_u w_u / |V_L| on V_L.

    The few true labels weigh the share σ of all pseudo-labels, however many these are; γ = ``gain`` mixes
    information gain in; with 0 all pseudo-labels weigh the same.
    """

    share: float = 0.3
    gain: float = 0.5

    @property
    def requires(self) -> frozenset[str]:
        return frozenset({"gain"} if self.gain else ())

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        true, weights = beliefs.split.train.size, np.ones(pseudo.nodes.size)
        if self.gain:
            weights = (1 - self.gain) + self.gain * normalised_gain(beliefs.gain[pseudo.nodes], 1.0)
        return Weights(np.full(true, self.share * weights.sum() / max(true, 1)), weights)
