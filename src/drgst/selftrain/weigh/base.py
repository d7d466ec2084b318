"""Weigh: how much each pseudo-labelled node counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels


@dataclass(frozen=True, eq=False)
class Weights:
    """w of every training node and of every pseudo-labelled node."""

    true: np.ndarray  # (|V_L|,)
    pseudo: np.ndarray  # (|S_U|,)


class Weigh(Protocol):
    """(Beliefs, PseudoLabels) -> Weights."""

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels, /) -> Weights: ...


@dataclass(frozen=True)
class Uniform:
    """w = 1 for all: plain self-training, and the ablation -lc (B̄ = 1)."""

    def __call__(self, beliefs: Beliefs, pseudo: PseudoLabels) -> Weights:
        return Weights(np.ones(beliefs.split.train.size), np.ones(pseudo.nodes.size))
