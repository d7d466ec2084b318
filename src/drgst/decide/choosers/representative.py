"""Nodes that represent many others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.decide.choosers.base import Choice, LabelState, highest, nearest
from drgst.decide.choosers.clusters import kmeans, typical


@dataclass(frozen=True)
class Medoids:
    """The node nearest to the centre of each of n clusters of propagated features (FeatProp, Wu et al., 2019).

    The clusters minimise Σ_j Σ_{u ∈ S_j} u^a ‖z_u - μ_j‖², with the uncertainty u of a node and a = ``power``.
    """

    power: float = 0.0

    def __call__(self, state: LabelState, n: int) -> Choice:
        weights = np.maximum(state.uncertainty[state.candidates], 1e-3) ** self.power
        cluster, distance = kmeans(state.representation[state.candidates], weights, n, state.rng)
        places = [typical(np.flatnonzero(cluster == j), distance) for j in range(cluster.max() + 1)]
        rest = np.setdiff1d(np.arange(state.candidates.size), places)[: n - len(places)]
        return Choice.of(state.candidates[np.append(places, rest).astype(np.int64)])


@dataclass(frozen=True)
class Density:
    """The candidates of largest u_i · mean_j exp(-‖z_i - z_j‖² / 2h²), with distance h from given labels and choices.

    h is half of the median distance of two random nodes. A candidate nearer than h to a labelled or chosen node is
    taken only where no other is left.
    """

    sample: int = 500

    def __call__(self, state: LabelState, n: int) -> Choice:
        z, rng = state.representation, state.rng
        shown = rng.choice(state.rest, min(self.sample, state.rest.size), replace=False)
        apart = np.linalg.norm(z[shown] - z[rng.permutation(shown)], axis=1)
        h = max(float(np.median(apart)) / 2, 1e-9)
        own = z[state.candidates]
        squares = (own * own).sum(axis=1)[:, None] + (z[shown] * z[shown]).sum(axis=1) - 2 * own @ z[shown].T
        score = np.exp(-squares / (2 * h * h)).mean(axis=1) * state.uncertainty[state.candidates]
        far = nearest(own, z[state.labelled])[1] if state.labelled.size else np.full(len(own), np.inf)
        chosen: list[int] = []
        for _ in range(n):
            allowed = np.where(far >= h, score, score - score.max() - 1)
            allowed[chosen] = -np.inf
            best = int(allowed.argmax())
            chosen.append(best)
            far = np.minimum(far, np.linalg.norm(own - own[best], axis=1))
        return Choice.of(state.candidates[chosen])


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
