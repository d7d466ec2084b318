"""Accuracy against labels a class, ours with the paper's (the paper's Figure 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.bench.grid import Grid
from drgst.bench.paired import mean_interval
from drgst.bench.results import CellName, Runs
from drgst.report.experiments import CURVES, Plan
from drgst.report.figures.request import Request
from drgst.report.figures.style import (
    BLACK,
    BLUE,
    FAINT,
    FEWEST,
    GREEN,
    PURPLE,
    VERMILLION,
    bound,
    draws_said,
    name_axes,
    new_figure,
    note,
)
from drgst.report.paper import dataset_order, main_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {  # recipe -> colour, marker, name
    "gcn": (BLACK, "o", "GCN"),
    "gat": (PURPLE, "v", "GAT"),
    "appnp": (GREEN, "^", "APPNP"),
    "drgst-do": (BLUE, "s", "DR-GST do"),
    "drgst-de": (VERMILLION, "D", "DR-GST de"),
}


@dataclass(frozen=True)
class Curve:
    """Percent against labels a class: (labels, mean, low, high) of ours, (labels, mean) of the paper's."""

    recipe: str
    ours: list[tuple[int, float, float, float]]
    paper: list[tuple[int, float]]
    draws: list[int]  # of each of ours


Data = dict[str, list[Curve]]  # data set -> its curves


def grids(plan: Plan, name: str) -> list[Grid]:  # noqa: ARG001
    """What to run for the figure."""
    return [plan.grid(CURVES)]


def prepare(request: Request) -> Data:
    """From the store."""
    return curves(request.cells)


def curves(cells: Mapping[CellName, Runs]) -> Data:
    """Of every data set with a run of one of the recipes; cells not run are left out."""
    datasets = sorted({cell[0] for cell in cells if cell[2] in CURVES}, key=dataset_order)
    return {dataset: [c for recipe in CURVES if (c := _curve(cells, dataset, recipe)).ours] for dataset in datasets}


def _curve(cells: Mapping[CellName, Runs], dataset: str, recipe: str) -> Curve:
    ours, draws = [], []
    for cell in sorted(cells):
        if (cell[0], cell[2]) == (dataset, recipe):
            values = list(cells[cell].figure("test_accuracy").values())
            mean = sum(values) / len(values)
            interval = mean_interval(values) if len(values) >= FEWEST else None
            low, high = interval or (math.nan, math.nan)
            ours.append((cell[1], 100 * mean, 100 * low, 100 * high))
            draws.append(len(values))
    paper = sorted((k, value) for (d, k, r), value in main_table().items() if (d, r) == (dataset, recipe))
    return Curve(recipe, ours, paper, draws)


def draw(data: Data) -> Figure:
    """A panel a data set, two in a row."""
    columns = min(2, len(data))
    rows = math.ceil(len(data) / columns)
    figure, axes = new_figure(0.55 + 1.75 * rows / columns**0.35, rows, columns)
    for panel in axes.flat[len(data) :]:
        panel.set_axis_off()
    for panel, (dataset, shown) in zip(axes.flat, data.items(), strict=False):
        _panel(panel, dataset, shown)
    name_axes(axes, len(data))
    _legend(figure, axes.flat[0], data)
    note(figure, f"full: ours, mean and 95 % interval ({FEWEST} draws or more); dashed, hollow: the paper's")
    return figure


def gapped(ours: Sequence[tuple[int, float, float, float]], ticks: Sequence[int]) -> np.ndarray:
    """(ticks, 4): NaN where nothing was run, so that no line is drawn across what is not known."""
    by = {point[0]: point for point in ours}
    return np.array([by.get(k, (k, math.nan, math.nan, math.nan)) for k in ticks])


def _panel(panel: Any, dataset: str, shown: Sequence[Curve]) -> None:
    ticks = sorted({k for curve in shown for k, *_ in curve.ours} | {k for curve in shown for k, _ in curve.paper})
    for place, curve in enumerate(shown):
        colour, marker, _ = LOOKS[curve.recipe]
        shift = 1.02 ** (place - (len(shown) - 1) / 2)  # side by side, so that intervals do not hide each other
        x, mean, low, high = gapped(curve.ours, ticks).T
        spread = [mean - low, high - mean]
        panel.errorbar(x * shift, mean, spread, ls="none", color=colour, alpha=FAINT, elinewidth=0.7, capsize=1.5)
        panel.plot(x * shift, mean, color=colour, marker=marker)
        if curve.paper:
            x = [k * shift for k, _ in curve.paper]
            y = [value for _, value in curve.paper]
            panel.plot(x, y, "--", color=colour, marker=marker, markerfacecolor="white", lw=0.7, ms=2.4, alpha=0.7)
    panel.set_xscale("log")
    panel.minorticks_off()
    panel.set_xticks(ticks, [str(k) for k in ticks])
    panel.set_title(f"{dataset}, {draws_said(n for curve in shown for n in curve.draws)}")
    bound(panel, [m for c in shown for _, m, *_ in (*c.ours, *c.paper)])


def _legend(figure: Figure, panel: Any, data: Data) -> None:
    there = [recipe for recipe in CURVES if any(c.recipe == recipe for shown in data.values() for c in shown)]
    handles = []
    for recipe in there:
        colour, marker, name = LOOKS[recipe]
        handles += panel.plot([], [], color=colour, marker=marker, label=name)
    figure.legend(handles=handles, loc="outside upper center", ncols=5)
