"""Weigh so that the true labels have a fixed share, as in drgst-plus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.weigh.base import Weights
from drgst.selftrain.weigh.information_gain import normalised_gain


@dataclass(frozen=True)
class Anchored:
    """w_u = (1 - γ) + γ B_u / mean B on S_U, and w = σ Σ_u w_u / |V_L| on V_L.

    The few true labels weigh the share σ of all pseudo-labels, however many these are; γ = ``gain`` mixes
    information gain in, 0 leaves all pseudo-labels alike.
    """

    requires: ClassVar[frozenset[str]] = frozenset({"gain"})

    share: float = 0.3
    gain: float = 0.5

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        true = beliefs.split.train.size
        weights = (1 - self.gain) + self.gain * normalised_gain(beliefs.gain[pseudo.nodes], 1.0)
        return Weights(np.full(true, self.share * weights.sum() / max(true, 1)), weights)
