"""The least certain nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.decide.choosers.base import Choice, LabelState, highest
from drgst.decide.choosers.sample import Random


@dataclass(frozen=True)
class Entropy:
    """The n largest H(p_u) = -Σ_c p_uc log p_uc; before the first label a random sample."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        p = state.probabilities[state.candidates]
        h = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
        return Choice.of(state.candidates[highest(h, n)])


@dataclass(frozen=True)
class Margin:
    """The n smallest p_(1) - p_(2), first class over second; before the first label a random sample."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        top = np.partition(state.probabilities[state.candidates], -2, axis=1)
        return Choice.of(state.candidates[highest(top[:, -2] - top[:, -1], n)])
