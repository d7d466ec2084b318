"""Samples: every candidate has a known probability of being chosen, so the labels tell class shares and calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.decide.choosers.base import Choice, LabelState
from drgst.decide.choosers.strata import split_into_strata


@dataclass(frozen=True)
class Random:
    """P(u) = n / K: a simple random sample."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        drawn = state.rng.choice(state.candidates, n, replace=False)
        return Choice.of(drawn, n / state.candidates.size)


@dataclass(frozen=True)
class ClassBalanced:
    """P(u) = n_c / K_c: simple random samples of n_c of the K_c candidates that are predicted as class c.

    The n_c are equal up to one, as far as the candidates allow. Before the first label: :class:`Random`.
    """

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        predicted = state.probabilities[state.candidates].argmax(axis=1)
        sizes = np.bincount(predicted, minlength=state.probabilities.shape[1])
        found = Choice.of(np.empty(0, dtype=np.int64))
        for c, count in enumerate(equal_counts(sizes, n, state.rng)):
            if count:
                drawn = state.rng.choice(state.candidates[predicted == c], count, replace=False)
                found = found.then(Choice.of(drawn, count / sizes[c]))
        return found


@dataclass(frozen=True)
class Spread:
    """P(u) = 1 / K_s: one random candidate of each of n strata s of K_s similar candidates.

    The strata are those of :func:`~drgst.decide.choosers.strata.split_into_strata`: the sample is spread over the
    representation, and each part of it is drawn at random. ``power`` a > 0 makes strata of equal Σ u^a instead of equal
    size and draws P(u) = u^a / Σ_s u^a, where u is the uncertainty of a node.
    """

    power: float = 0.0

    def __call__(self, state: LabelState, n: int) -> Choice:
        weight = np.maximum(state.uncertainty[state.candidates], 1e-3) ** self.power
        strata = split_into_strata(state.representation[state.candidates], weight, n)
        nodes, probability = [], []
        for members in strata:
            p = weight[members] / weight[members].sum()
            drawn = int(state.rng.choice(members.size, p=p))
            nodes.append(state.candidates[members[drawn]])
            probability.append(p[drawn])
        return Choice.of(np.array(nodes), np.array(probability))


@dataclass(frozen=True)
class Uncertain:
    """P(u) = min(1, n u^a / Σ u^a), about: a sample without replacement, uncertain nodes more often."""

    power: float = 1.0

    def __call__(self, state: LabelState, n: int) -> Choice:
        weight = np.maximum(state.uncertainty[state.candidates], 1e-3) ** self.power
        p = weight / weight.sum()
        places = state.rng.choice(state.candidates.size, n, replace=False, p=p)
        return Choice.of(state.candidates[places], np.minimum(1, n * p[places]))


def equal_counts(sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """n as counts per class that are equal up to one, none above its size; which classes have one more is random."""
    counts = np.zeros_like(sizes)
    while n > 0:
        open_ = rng.permutation(np.flatnonzero(counts < sizes))
        lowest = open_[counts[open_] == counts[open_].min()][:n]
        counts[lowest] += 1
        n -= lowest.size
    return counts
