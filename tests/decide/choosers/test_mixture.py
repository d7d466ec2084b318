"""Choosers made of two others."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.decide.choosers.base import Choice, LabelState
from drgst.decide.choosers.mixture import BeforeLabels, Switch


def first(state: LabelState, n: int) -> Choice:
    return Choice.of(state.candidates[:n])


def last(state: LabelState, n: int) -> Choice:
    return Choice.of(state.candidates[-n:])


def state(labelled: int, known: bool = True) -> LabelState:
    p = np.full((30, 2), 0.5) if known else None
    return LabelState(np.eye(30), np.arange(20, 30), np.arange(labelled), np.random.default_rng(0), p)


@pytest.mark.parametrize(("labelled", "expected"), [(6, [20, 21]), (11, [20, 21]), (12, [28, 29]), (20, [28, 29])])
def test_switch_at_six_labels_per_class(labelled: int, expected: list[int]) -> None:
    """Two classes: the first up to 11 labels, the other from 12."""
    assert Switch(first, last)(state(labelled), 2).nodes.tolist() == expected


def test_before_labels() -> None:
    assert BeforeLabels(first, last)(state(0, known=False), 1).nodes.tolist() == [20]
    assert BeforeLabels(first, last)(state(2), 1).nodes.tolist() == [29]
