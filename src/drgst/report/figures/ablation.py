"""DR-GST with each part left out (the paper's Figures 5 and 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.bench.grid import Grid
from drgst.bench.paired import mean_interval
from drgst.bench.results import CellName, Runs
from drgst.report.experiments import FAMILIES, Plan, family
from drgst.report.figures.request import Request
from drgst.report.figures.style import (
    BLUE,
    FAINT,
    FEWEST,
    GREEN,
    GREY,
    ORANGE,
    VERMILLION,
    bound,
    draws_said,
    name_axes,
    new_figure,
    note,
)
from drgst.report.paper import dataset_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = ((VERMILLION, "D", "both"), (ORANGE, "^", "gain only"), (GREEN, "v", "correction only"), (BLUE, "o", "neither"))


@dataclass(frozen=True)
class Bar:
    """Percent, with the interval that draws give once the differences between them are taken out."""

    part: int  # place in the family
    mean: float
    half: float | None  # of the 95 % interval; None where one draw can't tell
    draws: int


Data = dict[str, dict[int, list[Bar]]]  # data set -> labels a class -> parts that were run


def grids(plan: Plan, name: str) -> list[Grid]:
    """What to run for the figure."""
    return [plan.grid(family(_whole(name)))]


def prepare(request: Request, name: str) -> Data:
    """From the store."""
    return bars(request.cells, family(_whole(name)))


def bars(cells: Mapping[CellName, Runs], recipes: Sequence[str]) -> Data:
    """Of every data set and label count with a run of two of the family or more, on the draws they share."""
    places = sorted({cell[:2] for cell in cells if cell[2] in recipes}, key=lambda p: (dataset_order(p[0]), p[1]))
    found: Data = {}
    for dataset, k in places:
        run = {
            part: cells[dataset, k, r].figure("test_accuracy")
            for part, r in enumerate(recipes)
            if (dataset, k, r) in cells
        }
        shared = sorted(set.intersection(*(set(v) for v in run.values())))
        if len(run) > 1 and shared:
            table = np.array([[values[draw] for draw in shared] for values in run.values()])
            found.setdefault(dataset, {})[k] = _bars(list(run), table)
    return found


def _bars(parts: list[int], table: np.ndarray) -> list[Bar]:
    halves = within_draws(table)
    return [
        Bar(part, 100 * float(row.mean()), None if half is None else 100 * half, table.shape[1])
        for part, row, half in zip(parts, table, halves, strict=True)
    ]


def within_draws(table: np.ndarray) -> list[float | None]:
    """Half of the 95 % interval of each row's mean, ``table`` (R, D), from x_rd - mean_d + mean, times √(R/(R-1)).

    Draws differ by more than methods do; what all rows share in a draw says nothing of the rows (Cousineau 2005,
    corrected by Morey 2008).
    """
    rows = table.shape[0]
    even = table - table.mean(axis=0) + table.mean()
    factor = math.sqrt(rows / (rows - 1))
    intervals = [mean_interval(row.tolist()) for row in even]
    return [None if interval is None else factor * (interval[1] - interval[0]) / 2 for interval in intervals]


def draw(data: Data) -> Figure:
    """A panel a data set, two in a row."""
    columns = min(2, len(data))
    rows = math.ceil(len(data) / columns)
    figure, axes = new_figure(0.55 + 1.6 * rows / columns**0.35, rows, columns)
    for panel in axes.flat[len(data) :]:
        panel.set_axis_off()
    for panel, (dataset, groups) in zip(axes.flat, data.items(), strict=False):
        _panel(panel, dataset, groups)
    name_axes(axes, len(data))
    handles = [axes.flat[0].plot([], [], color=c, marker=m, ls="none", ms=4, label=name)[0] for c, m, name in LOOKS]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, handletextpad=0.2)
    note(figure, f"means on shared draws; 95 % intervals ({FEWEST} draws or more) without what draws share")
    return figure


def _panel(panel: Any, dataset: str, groups: Mapping[int, list[Bar]]) -> None:
    for place, found in enumerate(groups.values()):
        for bar in found:
            colour, marker, _ = LOOKS[bar.part]
            x = place + 0.19 * (bar.part - 1.5)
            half = bar.half if bar.draws >= FEWEST else None
            panel.errorbar(x, bar.mean, half, color=colour, alpha=FAINT, elinewidth=0.8, capsize=1.8)
            panel.plot(x, bar.mean, color=colour, marker=marker, ms=3.4)
        if place:
            panel.axvline(place - 0.5, color=GREY, lw=0.3)
    panel.set_xlim(-0.55, len(groups) - 0.45)
    panel.set_xticks(range(len(groups)), [str(k) for k in groups])
    panel.set_title(f"{dataset}, {draws_said(bar.draws for found in groups.values() for bar in found)}")
    panel.tick_params(axis="x", length=0)
    bound(panel, [bar.mean for found in groups.values() for bar in found])


def _whole(name: str) -> str:
    """``ablation-do`` -> ``drgst-do``."""
    return FAMILIES[name.rpartition("-")[2]]
