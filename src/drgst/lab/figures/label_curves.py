"""Accuracy against the number of labels, one curve per chooser."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from drgst.lab.curves.summary import CurveGroup
from drgst.lab.statistics.paired import mean_interval
from drgst.report import style

STYLES = tuple(zip(style.CLASSES, "osD^vP*X", strict=True))


def draw(groups: Mapping[str, CurveGroup], title: str, judge: str) -> style.Figure:
    """One panel; the interval is that of the mean over draws, where there are three or more."""
    figure, ((panel,),) = style.new_figure(2.4)
    entries: style.Entries = {}
    shown: list[float] = []
    for place, (by, group) in enumerate(groups.items()):
        colour, marker = STYLES[place % len(STYLES)]
        points = group.means()
        mean = np.array([100 * float(np.mean(values)) for values in points.values()])
        bands = [
            (mean_interval(v) if len(v) >= style.FEWEST else None) or (math.nan, math.nan) for v in points.values()
        ]
        low, high = 100 * np.array(bands).T
        x = list(points)
        panel.plot(x, mean, color=colour, marker=marker, ms=2.4)
        panel.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
        entries[by] = {"color": colour, "marker": marker, "ms": 2.4}
        shown += mean.tolist()
    panel.set_xlabel("labels")
    panel.set_ylabel(f"{judge} accuracy (%)")
    panel.set_title(f"{title}, {style.count_draws(len(group.curves) for group in groups.values())}")
    style.limit_y(panel, shown)
    style.legend(figure, panel, entries, 3)
    style.caption(figure, f"mean and 95 % interval ({style.FEWEST} draws or more)")
    return figure


def _interval(values: list[float]) -> tuple[float, float]:
    return (mean_interval(values) if len(values) >= style.FEWEST else None) or (math.nan, math.nan)
