"""Curves of accuracy against labels per class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drgst.lab.figures import labels
from drgst.lab.figures.registry import draw

Cells = Callable[..., Any]
DRAWS = [0.60, 0.62, 0.65, 0.68, 0.70]


def test_a_curve_has_what_was_run_beside_the_papers_figures(cells: Cells) -> None:
    (curve,) = labels.curves(cells({("cora", 3, "gcn"): DRAWS, ("cora", 20, "gcn"): DRAWS}))["cora"]
    assert curve.recipe == "gcn"
    assert list(curve.ours) == list(curve.paper) == [3, 20]
    mean, low, high, draws = curve.ours[3]
    assert mean == pytest.approx(65)
    assert low < mean < high
    assert draws == 5
    assert curve.paper[3] == 64.52
    assert labels.curves({}) == {}


@pytest.mark.parametrize("draws", [1, 4])
def test_one_draw_or_two_have_no_interval(draws: int, cells: Cells) -> None:
    (curve,) = labels.curves(cells({("cora", 3, "gcn"): [0.6] * draws}))["cora"]
    mean, low, high, count = curve.ours[3]
    assert (mean, count) == (pytest.approx(60), draws)
    assert np.isnan([low, high]).all()


def test_the_best_recipe_is_always_shown(cells: Cells) -> None:
    few = {("cora", 3, recipe): DRAWS for recipe in ("gcn", "union", "drgst-plus", "drgst-de-ig")}
    assert labels.shown_recipes(cells(few)) == ["gcn", "drgst-plus", "union"]  # all but the ablation
    many = {("cora", 3, f"r{place}"): DRAWS for place in range(9)}
    many |= {("cora", 3, "gcn"): DRAWS, ("cora", 3, "drgst-plus"): [0.9, 0.9, 0.9]}
    assert labels.shown_recipes(cells(many)) == ["gcn", "drgst-plus"]


def test_a_gap_is_marked_as_not_run(cells: Cells) -> None:
    found = {("cora", k, "gcn"): DRAWS for k in (3, 5, 20)} | {("cora", k, "drgst-de"): DRAWS for k in (3, 20)}
    figure = draw("labels", labels.curves(cells(found)))
    panel = figure.axes[0]
    marked = [line for line in panel.lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert [round(float(line.get_xdata()[0])) for line in marked] == [5]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["GCN", "DR-GST (dropedge)", "the paper's", "not run"]
    full = {("mine", k, "union"): DRAWS for k in (3, 5)}
    names = [text.get_text() for text in draw("labels", labels.curves(cells(full))).legends[0].get_texts()]
    assert names == ["union"]
