"""Choosers that are compared in learning curves and that ``drgst suggest`` does not offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from drgst.decide.labels.choosers import BeforeLabels, Medoids, Random
from drgst.decide.labels.registry import CHOOSERS, TYPICAL, ChooserSpec
from drgst.decide.labels.state import Choice, LabelState, highest, nearest


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
class KCenter:
    """Greedy k-center: the candidate farthest from every labelled and chosen node, again and again (Sener, 2018)."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        own = state.representation[state.candidates]
        if state.labelled.size:
            far = nearest(own, state.representation[state.labelled])[1]
        else:
            far = -np.linalg.norm(own - own.mean(axis=0), axis=1)  # the first node is the most typical one
        chosen: list[int] = []
        for _ in range(n):
            far[chosen] = -np.inf
            best = int(highest(far, 1)[0])
            apart = np.linalg.norm(own - own[best], axis=1)
            far = apart if not chosen and not state.labelled.size else np.minimum(far, apart)
            chosen.append(best)
        return Choice.of(state.candidates[chosen])


_ALL = (
    ChooserSpec("entropy", Entropy(), "the nodes of highest entropy"),
    ChooserSpec("k-center", KCenter(), "the nodes farthest from every label"),
    ChooserSpec(
        "balanced-variance",
        BeforeLabels(Medoids(), TYPICAL),
        "typical nodes whose labels lower the variance most, as many of each predicted class; medoids at first",
    ),
)
CURVE_CHOOSERS: Mapping[str, ChooserSpec] = {**CHOOSERS, **{spec.name: spec for spec in _ALL}}
