"""The data behind each figure of the paper, worked out by hand, and that it can be drawn."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drgst.lab.figures import ablation, confidence_gain, labels, stages
from drgst.lab.figures.registry import draw
from drgst.lab.figures.toy import BANDWIDTH, SIGMA, Toy, gaussian, grid, kernel_density, ratio
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


def test_points() -> None:
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    found = confidence_gain.points("dropout", p, np.array([1.0, 2, 4]), np.array([0, 0, 1]))
    assert found.confidence.tolist() == [0.9, 0.6, 0.8]
    assert found.gain.tolist() == [1, 2, 4]
    assert found.correct.tolist() == [True, False, True]
    assert found.correlation.rho == pytest.approx(-0.5)


def test_medians_are_of_equally_many_nodes() -> None:
    confidence = np.array([0.9, 0.1, 0.2, 0.8])
    found = confidence_gain.Points("dropout", confidence, 1 - confidence, np.ones(4, bool), None)
    x, y = found.medians(2)
    assert x.tolist() == pytest.approx([0.15, 0.85])
    assert y.tolist() == pytest.approx([0.85, 0.15])


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


def test_weights_are_those_of_the_pseudo_labelled_nodes() -> None:
    found = stages.spread(np.array([1, 3]), np.array([2.0, 0.5]), 5)
    assert np.isnan(found[[0, 2, 4]]).all()
    assert found[[1, 3]].tolist() == [2, 0.5]


def test_classes_have_a_legend_in_which_colours_repeat_after_the_eighth() -> None:
    rng = np.random.default_rng(0)
    shown = stages.Snapshot(1, rng.random((5, 2)), rng.random((9, 2)), np.array([1.0, 2, np.nan, np.nan, 3]), 0.5)
    names = tuple(f"class_{place}" for place in range(9))
    figure = draw("stages", stages.Data([shown], np.arange(9), names, "caption"))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["class 0, class 8", *(f"class {place}" for place in range(1, 8))]


def test_densities_integrate_to_one() -> None:
    places, area = grid(3, 121), (6 / 120) ** 2
    points = np.array([[0.0, 0.0], [0.5, -0.5]])
    assert kernel_density(points, places, 0.2).sum() * area == pytest.approx(1, abs=1e-3)
    assert gaussian(places, 0.3).sum() * area == pytest.approx(1, abs=1e-3)
    assert kernel_density(np.empty((0, 2)), places[:3], 0.2).tolist() == [0, 0, 0]


def test_pseudo_labels_lie_near_the_centre_and_gamma_falls_there(toy: Toy) -> None:
    assert toy.pseudo_labelled.shape == (100, 2)
    assert toy.labelled.shape == (100, 2)
    assert toy.gain.shape == (100,)
    assert toy.accuracy > 0.9
    far, near = (np.median(np.linalg.norm(part, axis=1)) for part in (toy.labelled, toy.pseudo_labelled))
    assert near < far
    centre, edge = toy.gamma(np.array([[0.0, 0.0], [0.6, 0.0]]))
    assert centre < 1 < edge <= 2  # at most (n + m) / n


def test_without_pseudo_labels_there_is_no_shift(toy: Toy) -> None:
    bare = replace(toy, pseudo_labelled=np.empty((0, 2)))
    places = grid(0.5, 5)
    assert bare.gamma(places) == pytest.approx(np.ones(25))
    assert bare.population(places) == pytest.approx(gaussian(places, float(np.hypot(SIGMA, BANDWIDTH))))


def test_the_ratio_is_not_shown_where_the_density_is_negligible(toy: Toy) -> None:
    shown = ratio(toy, half=2, steps=21)
    assert np.isnan(shown[0, 0])
    assert shown[10, 10] < 1
