"""The bars of the ablation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drgst.lab.figures import ablation
from drgst.lab.figures.registry import draw
from drgst.lab.paper import ablations
from drgst.lab.store.cells import RunFilter, runs_by_cell


def test_within_draw_intervals_leave_out_what_the_recipes_share() -> None:
    base = np.array([0.5, 0.7, 0.9])
    even = ablation.within_draws(np.stack([base, base + 0.01]))
    assert even == pytest.approx([0, 0], abs=1e-12)
    apart = ablation.within_draws(np.stack([base, base + np.array([0.0, 0.1, 0.2])]))
    assert all(half is not None and half > 0.05 for half in apart)
    assert ablation.within_draws(np.ones((2, 1))) == [None, None]


def test_bars_are_of_shared_draws(make_row: Callable[..., dict[str, Any]]) -> None:
    rows = [make_row("a", recipe="drgst-de", draw=0, test_accuracy=0.5)]
    rows += [make_row("b", recipe="drgst-de", draw=1, test_accuracy=0.9)]
    rows += [make_row("c", recipe="drgst-de-wo", draw=0, test_accuracy=0.4)]
    rows += [make_row("d", recipe="drgst-de", draw=0, per_class=5)]  # alone: nothing to compare with
    found = ablation.bars(runs_by_cell(rows, RunFilter()), ablations("drgst-de"))
    assert list(found["cora"]) == [3]
    assert [(bar.part, bar.mean, bar.draws) for bar in found["cora"][3]] == [(0, 50, 1), (3, 40, 1)]


def test_a_recipe_that_was_not_run_is_marked(cells: Callable[..., Any]) -> None:
    run = ablations("drgst-do")[:3]
    found = ablation.bars(cells({("cora", 3, recipe): [0.6, 0.7] for recipe in run}), ablations("drgst-do"))
    figure = draw("ablation-do", found)
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "not run"
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert len(crosses) == 1
