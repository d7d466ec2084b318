"""Weigh: how much each pseudo-labelled node counts. Each part gives Weights: of the true and of the chosen nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels


@dataclass(frozen=True, eq=False)
class Weights:
    """w of every training node and of every chosen node."""

    true: np.ndarray  # (|V_L|,)
    pseudo: np.ndarray  # (|S_U|,)


class Weigh(Protocol):
    """The verb: (Beliefs, PseudoLabels) -> Weights."""

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights: ...


def normalised_gain(gain: np.ndarray, beta: float) -> np.ndarray:
    """B̄_u = B_u / (β · 1/|S_U| Σ_i B_i), (M,) (Eq. final_loss); 1/β each where every gain is zero."""
    mean = gain.mean(dtype=np.float64) if gain.size else 0.0
    return gain / (beta * mean) if mean > 0 else np.full(gain.shape, 1.0 / beta)


@dataclass(frozen=True)
class Uniform:
    """w = 1 for all: plain self-training, and the ablation -lc (B̄ = 1)."""

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        return Weights(np.ones(beliefs.split.train.size), np.ones(pseudo.nodes.size))


@dataclass(frozen=True)
class InformationGain:
    """w_u = B̄_u on S_U and 1 on V_L (Eq. final_loss).

    ``over_true=True`` is what the published program does: w = (B + 1e-6) / (β · mean) over V_L ∪ S_U alike.
    """

    uses_gain: ClassVar[bool] = True

    beta: float
    over_true: bool = False

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        true = beliefs.split.train
        if not self.over_true:
            return Weights(np.ones(true.size), normalised_gain(beliefs.gain[pseudo.nodes], self.beta))
        both = normalised_gain(beliefs.gain[np.concatenate([true, pseudo.nodes])] + 1e-6, self.beta)
        return Weights(both[: true.size], both[true.size :])
