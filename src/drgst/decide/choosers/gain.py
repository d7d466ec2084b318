"""Information gain, one node per cluster so that a batch is not all of one kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.decide.choosers.base import Choice, LabelState, highest
from drgst.decide.choosers.clusters import kmeans, typical
from drgst.decide.choosers.sample import Random


@dataclass(frozen=True)
class InformationGain:
    """One node of each of n clusters: u_j = argmin_{u ∈ S_j, B_u ≥ med_j} ‖z_u - μ_j‖, largest B first.

    The clusters minimise Σ_j Σ_{u ∈ S_j} B_u ‖z_u - μ_j‖² over the ``shortlist`` n candidates of largest B; med_j is
    the median of B in S_j. B is the information gain of the run, or its entropy where the gain is unknown or 0. The
    node of largest B is often an outlier, so the most typical one of the upper half is taken.
    """

    shortlist: int = 100

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        scores = self.scores(state)
        short = state.candidates[highest(scores[state.candidates], self.shortlist * n)]
        if short.size <= n:
            return Choice.of(short)
        b = scores[short]
        cluster, distance = kmeans(state.representation[short], b, n, state.rng)
        picked = []
        for j in range(cluster.max() + 1):
            members = np.flatnonzero(cluster == j)
            picked.append(typical(members[b[members] >= np.median(b[members])], distance))
        rest = np.setdiff1d(np.arange(short.size), picked)[: n - len(picked)]  # equal rows give fewer clusters
        return Choice.of(short[np.sort(np.append(picked, rest).astype(np.int64))])

    def scores(self, state: LabelState) -> np.ndarray:
        """B, (N,), no value below 0; the entropy of p where B is unknown or 0 at every candidate."""
        b, p = state.gain, state.probabilities
        assert p is not None
        if b is not None and np.isfinite(b[state.candidates]).all() and (b[state.candidates] > 0).any():
            return np.maximum(b, 0)
        return np.asarray(-(p * np.log(np.maximum(p, 1e-12))).sum(axis=1))
