"""Accuracy against labels per class, ours and the paper's (the paper's Figure 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.lab.figures.registry import Request
from drgst.lab.paper import ABLATED, CURVES, dataset_label, dataset_order, main_table, recipe_label, recipe_order
from drgst.lab.statistics import FEWEST, mean_interval
from drgst.lab.store.cells import Cells, Runs
from drgst.lab.tables.runs import ranks
from drgst.report import style

STYLES = {  # recipe -> colour and marker
    "gcn": (style.BLACK, "o"),
    "gat": (style.PURPLE, "v"),
    "appnp": (style.GREEN, "^"),
    "drgst-do": (style.BLUE, "s"),
    "drgst-de": (style.VERMILLION, "D"),
}
MORE = ((style.ORANGE, "*"), (style.SKY, "P"), (style.YELLOW, "X"))  # of other recipes
PAPER = {"ls": "--", "lw": 0.7, "ms": 2.4, "markerfacecolor": "white", "alpha": 0.7}


@dataclass(frozen=True)
class AccuracyByLabels:
    """Labels per class -> accuracy in percent: ours as (mean, low, high, draws), and the paper's."""

    recipe: str
    ours: dict[int, tuple[float, float, float, int]]
    paper: dict[int, float]


Data = dict[str, list[AccuracyByLabels]]  # data set -> its curves


def prepare(request: Request) -> Data:
    """Read the store."""
    return curves(request.cells)


def curves(cells: Cells) -> Data:
    """The curves of each data set; the paper's for what was run."""
    cells = {cell: runs for cell, runs in cells.items() if runs.figure("test_accuracy")}
    recipes = shown_recipes(cells)
    found: Data = {}
    for dataset, recipe in sorted(
        {(d, r) for d, _, r in cells if r in recipes}, key=lambda p: (dataset_order(p[0]), recipe_order(p[1]))
    ):
        ours = {k: _point(cells[d, k, r]) for d, k, r in sorted(cells) if (d, r) == (dataset, recipe)}
        published = {k: v for (d, k, r), v in main_table().items() if (d, r) == (dataset, recipe) and k in ours}
        found.setdefault(dataset, []).append(AccuracyByLabels(recipe, ours, published))
    return found


def shown_recipes(cells: Cells) -> list[str]:
    """Every recipe but the ablations; of many, those of the paper's figure and the best of each cell."""
    run = sorted({r for *_, r in cells if r not in ABLATED}, key=recipe_order)
    if len(run) <= len(STYLES) + len(MORE):
        return run
    best = {cell[2] for cell, rank in ranks(cells, "test_accuracy").items() if rank == 1}
    return [recipe for recipe in run if recipe in best or recipe in CURVES]


def _point(runs: Runs) -> tuple[float, float, float, int]:
    values = list(runs.figure("test_accuracy").values())
    low, high = (mean_interval(values) if len(values) >= FEWEST else None) or (math.nan, math.nan)
    return 100 * float(np.mean(values)), 100 * low, 100 * high, len(values)


def draw(data: Data) -> style.Figure:
    """One panel per data set."""
    figure, panels = style.accuracy_panels(len(data), "labels per class")
    recipes = sorted({curve.recipe for shown in data.values() for curve in shown}, key=recipe_order)
    others = [recipe for recipe in recipes if recipe not in STYLES]
    styles = {**STYLES, **{recipe: MORE[place % len(MORE)] for place, recipe in enumerate(others)}}
    missing = [
        _panel(panel, dataset, shown, styles) for panel, (dataset, shown) in zip(panels, data.items(), strict=True)
    ]
    entries: style.Entries = {recipe_label(r): {"color": styles[r][0], "marker": styles[r][1]} for r in recipes}
    if any(curve.paper for shown in data.values() for curve in shown):
        entries["the paper's"] = {**PAPER, "color": style.GREY, "marker": "o"}
    style.legend(figure, panels[0], entries, 3, any(missing))
    words = f"mean and 95 % interval ({FEWEST} draws or more)"
    if "drgst-plus" in recipes:
        words += "; drgst-plus trains on the validation labels, too, the others do not"
    style.caption(figure, words)
    return figure


def _panel(panel: Any, dataset: str, shown: Sequence[AccuracyByLabels], styles: dict[str, tuple[str, str]]) -> bool:
    """Draw the curves of a data set; whether one of them lacks a label count that others have."""
    ticks = sorted({k for curve in shown for k in (*curve.ours, *curve.paper)})
    missing = []
    for place, curve in enumerate(shown):
        colour, marker = styles[curve.recipe]
        shift = 1.02 ** (place - (len(shown) - 1) / 2)  # side by side, so that intervals do not hide each other
        x = [k * shift for k in ticks]
        gap = (math.nan,) * 4  # no line across a label count that was not run
        mean, low, high, _ = np.array([curve.ours.get(k, gap) for k in ticks]).T
        style.error_bars(panel, x, mean, [mean - low, high - mean], colour)
        panel.plot(x, mean, color=colour, marker=marker)
        panel.plot(x, [curve.paper.get(k, math.nan) for k in ticks], color=colour, marker=marker, **PAPER)
        missing += [(k * shift, colour) for k in ticks if k not in curve.ours]
    panel.set_xscale("log")
    panel.minorticks_off()
    panel.set_xticks(ticks, [str(k) for k in ticks])
    draws = style.count_draws(point[3] for curve in shown for point in curve.ours.values())
    panel.set_title(f"{dataset_label(dataset)}, {draws}")
    style.limit_y(panel, [m for c in shown for m in (*(point[0] for point in c.ours.values()), *c.paper.values())])
    style.mark_not_run(panel, missing)
    return bool(missing)
