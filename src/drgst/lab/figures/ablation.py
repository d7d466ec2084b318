"""DR-GST with each part left out (the paper's Figures 5 and 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.lab.figures.registry import Request
from drgst.lab.paper import ablations, dataset_label, dataset_order
from drgst.lab.statistics import FEWEST, mean_interval
from drgst.lab.store.cells import Cells
from drgst.report import style

PARTS = (
    (style.VERMILLION, "D", "gain and correction"),
    (style.ORANGE, "^", "gain only"),
    (style.GREEN, "v", "correction only"),
    (style.BLUE, "o", "neither"),
)


@dataclass(frozen=True)
class Bar:
    """Mean accuracy in percent and half of its within-draw 95 % interval (None for a single draw)."""

    part: int  # place in PARTS
    mean: float
    half: float | None
    draws: int


Data = dict[str, dict[int, list[Bar]]]  # data set -> labels per class -> the recipes that were run


def prepare(request: Request, recipe: str) -> Data:
    """Read the store."""
    return bars(request.cells, ablations(recipe))


def bars(cells: Cells, recipes: Sequence[str]) -> Data:
    """The bars of each data set and label count where two recipes or more were run, on the draws they share."""
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
            found.setdefault(dataset, {})[k] = [
                Bar(part, 100 * float(row.mean()), None if half is None else 100 * half, len(shared))
                for part, row, half in zip(run, table, within_draws(table), strict=True)
            ]
    return found


def within_draws(table: np.ndarray) -> list[float | None]:
    """Half of the 95 % interval of each row's mean, ``table`` (R, D), from x_rd - mean_d + mean, times √(R/(R-1)).

    Draws differ by more than methods do; what all rows share in a draw says nothing about the rows (Cousineau 2005,
    corrected by Morey 2008).
    """
    rows = table.shape[0]
    centred = table - table.mean(axis=0) + table.mean()
    factor = math.sqrt(rows / (rows - 1))
    intervals = [mean_interval(row.tolist()) for row in centred]
    return [None if interval is None else factor * (interval[1] - interval[0]) / 2 for interval in intervals]


def draw(data: Data) -> style.Figure:
    """One panel per data set."""
    figure, panels = style.accuracy_panels(len(data), "labels per class")
    missing = [_panel(panel, *item) for panel, item in zip(panels, data.items(), strict=True)]
    entries = {label: {"color": colour, "marker": marker, "ls": "none", "ms": 4} for colour, marker, label in PARTS}
    style.legend(figure, panels[0], entries, 4, any(missing))
    style.caption(figure, f"mean over shared draws and 95 % within-draw interval ({FEWEST} draws or more)")
    return figure


def _panel(panel: Any, dataset: str, groups: Mapping[int, list[Bar]]) -> bool:
    """Draw the bars of a data set; whether one of them is missing."""
    missing = []
    for place, found in enumerate(groups.values()):
        by_part = {bar.part: bar for bar in found}
        for part, (colour, marker, _) in enumerate(PARTS):
            x = place + 0.19 * (part - 1.5)
            if part not in by_part:
                missing.append((x, colour))
                continue
            bar = by_part[part]
            half = bar.half if bar.draws >= FEWEST else None
            style.error_bars(panel, x, bar.mean, half, colour)
            panel.plot(x, bar.mean, color=colour, marker=marker, ms=3.4)
        if place:
            panel.axvline(place - 0.5, color=style.GREY, lw=0.3)
    every = [bar for found in groups.values() for bar in found]
    panel.set_xlim(-0.55, len(groups) - 0.45)
    panel.set_xticks(range(len(groups)), [str(k) for k in groups])
    panel.set_title(f"{dataset_label(dataset)}, {style.count_draws(bar.draws for bar in every)}")
    panel.tick_params(axis="x", length=0)
    style.limit_y(panel, [bar.mean for bar in every])
    style.mark_not_run(panel, missing)
    return bool(missing)
