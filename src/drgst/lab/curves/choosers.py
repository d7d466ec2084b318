"""Choosers that are compared in learning curves and that ``drgst suggest`` does not offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from drgst.decide.labels.choosers import BeforeLabels, Medoids, Random
from drgst.decide.labels.registry import CHOOSERS, TYPICAL, ChooserSpec
from drgst.decide.labels.state import Choice, LabelState, highest


@dataclass(frozen=True)
class Entropy:
    """The n largest H(p_u) = -Σ_c p_uc log p_uc; before the first label a random sample."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        p = state.probabilities[state.candidates]
        h = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
        return Choice.of(state.candidates[highest(h, n)])


_ALL = (
    ChooserSpec("entropy", Entropy(), "the nodes of highest entropy"),
    ChooserSpec(
        "balanced-variance",
        BeforeLabels(Medoids(), TYPICAL),
        "typical nodes whose labels lower the variance most, as many of each predicted class; medoids at first",
    ),
)
CURVE_CHOOSERS: Mapping[str, ChooserSpec] = {**CHOOSERS, **{spec.name: spec for spec in _ALL}}
