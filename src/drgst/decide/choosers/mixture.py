"""Choosers made of two others."""

from __future__ import annotations

from dataclasses import dataclass

from drgst.decide.choosers.base import Choice, Chooser, LabelState


@dataclass(frozen=True)
class BeforeLabels:
    """``first`` before any label is given, ``then`` afterwards."""

    first: Chooser
    then: Chooser

    def __call__(self, state: LabelState, n: int) -> Choice:
        return (self.first if state.probabilities is None else self.then)(state, n)


@dataclass(frozen=True)
class Switch:
    """``first`` while there are fewer than m C labels, m = ``labels``, for C classes, ``then`` afterwards."""

    first: Chooser
    then: Chooser
    labels: float = 6.0  # per class

    def __call__(self, state: LabelState, n: int) -> Choice:
        classes = 1 if state.probabilities is None else state.probabilities.shape[1]
        return (self.first if state.labelled.size < self.labels * classes else self.then)(state, n)


@dataclass(frozen=True)
class Mixture:
    """n₁ = round(s n) nodes by ``first``, the others by ``second``; s = ``share``, or 1 / (1 + M / (m C)) with labels.

    With ``shift`` m > 0 the share of the first falls as labels grow: it is a half at m labels per class, for M labels
    and C classes, and 1 before the first label.
    """

    first: Chooser
    second: Chooser
    share: float = 0.5
    shift: float = 0.0

    def __call__(self, state: LabelState, n: int) -> Choice:
        share = self.share
        if self.shift and state.probabilities is not None:
            share = 1 / (1 + state.labelled.size / (self.shift * state.probabilities.shape[1]))
        if state.probabilities is None:
            share = 1.0
        count = min(max(round(share * n), 0), n)
        found = self.first(state, count) if count else None
        if count == n and found is not None:
            return found
        state = state if found is None else state.without(found.nodes)
        other = self.second(state, n - count)
        return other if found is None else found.then(other)
