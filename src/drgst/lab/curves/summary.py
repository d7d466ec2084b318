"""Statistics of learning curves (areas, comparisons with a random sample, labels needed) and their figure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.lab.statistics import Comparison, compare, mean_interval
from drgst.lab.store.schema import Row
from drgst.report import style

FIRST = 20  # further labels after which the accuracy is reported on its own
STYLES = tuple(zip(style.CLASSES, "osD^vP*X", strict=True))


@dataclass(frozen=True)
class LearningCurve:
    """The points of one draw, by number of labels."""

    labels: tuple[int, ...]
    figures: Mapping[str, tuple[float, ...]]  # accuracy, macro_f1, ece, choice_seconds

    @classmethod
    def of(cls, points: Iterable[Mapping[str, Any]]) -> LearningCurve:
        """From the points of a row of the store."""
        rows = list(points)
        names = ("accuracy", "macro_f1", "ece")
        figures = {name: tuple(float(row[name]) for row in rows) for name in names}
        figures["choice_seconds"] = tuple(float(row.get("choice_seconds", np.nan)) for row in rows)
        return cls(tuple(row["labels"] for row in rows), figures)

    def area(self, name: str = "accuracy") -> float:
        """∫ f dM / (M_end - M_start) by the trapezoidal rule: the mean figure over the curve."""
        values, m = self.figures[name], self.labels
        return float(np.trapezoid(values, m) / (m[-1] - m[0])) if len(m) > 1 else values[0]

    def at(self, more: int, name: str = "accuracy") -> float:
        """The figure after ``more`` labels beyond the start, interpolated linearly; that of the end after the end."""
        return float(np.interp(self.labels[0] + more, self.labels, self.figures[name]))

    def needed(self, level: float) -> float:
        """The labels at which the accuracy first is ``level``, interpolated linearly; infinite where it never is."""
        values = self.figures["accuracy"]
        for k, value in enumerate(values):
            if value >= level:
                if k == 0:
                    return float(self.labels[0])
                share = (level - values[k - 1]) / (value - values[k - 1])
                return self.labels[k - 1] + share * (self.labels[k] - self.labels[k - 1])
        return float("inf")


@dataclass(frozen=True)
class CurveGroup:
    """The curves of one chooser, draw -> curve."""

    by: str
    curves: Mapping[int, LearningCurve]

    def values(self, name: str = "accuracy") -> dict[int, float]:
        """Draw -> area."""
        return {draw: curve.area(name) for draw, curve in self.curves.items()}

    def after(self, more: int) -> dict[int, float]:
        """Draw -> accuracy after ``more`` labels."""
        return {draw: curve.at(more) for draw, curve in self.curves.items()}

    def last(self, name: str) -> float:
        """The mean figure at the end."""
        return float(np.mean([curve.figures[name][-1] for curve in self.curves.values()]))

    def seconds(self) -> float:
        """Of one choice, in the mean; NaN where none was timed."""
        times = np.array([s for curve in self.curves.values() for s in curve.figures["choice_seconds"]])
        return float(times[np.isfinite(times)].mean()) if np.isfinite(times).any() else float("nan")

    def against(self, other: CurveGroup) -> Comparison | None:
        """The difference of areas on the draws that both have; None where there are none."""
        return compare(self.values(), other.values())

    def mean_curve(self) -> LearningCurve:
        """The means over the draws, at the numbers of labels that all draws have."""
        points = {m: values for m, values in self.means().items() if len(values) == len(self.curves)}
        return LearningCurve(tuple(points), {"accuracy": tuple(float(np.mean(values)) for values in points.values())})

    def share_needed(self, other: CurveGroup) -> float:
        """The share of the further labels after which the mean accuracy is that of ``other`` at its end."""
        curve = self.mean_curve()
        first, last = curve.labels[0], curve.labels[-1]
        return (curve.needed(other.mean_curve().figures["accuracy"][-1]) - first) / max(last - first, 1)

    def means(self, name: str = "accuracy") -> dict[int, list[float]]:
        """Number of labels -> the figure in each draw that has it."""
        found: dict[int, list[float]] = {}
        for curve in self.curves.values():
            for labels, value in zip(curve.labels, curve.figures[name], strict=True):
                found.setdefault(labels, []).append(value)
        return dict(sorted(found.items()))


def curve_groups(rows: Iterable[Row], order: Iterable[str]) -> dict[str, CurveGroup]:
    """Chooser -> its curves, in the given order, from rows of the store that have ``variant``, ``draw`` and points."""
    found: dict[str, dict[int, LearningCurve]] = {name: {} for name in order}
    for row in rows:
        by = row["variant"].split("by=", 1)[1].split(",")[0]
        found.setdefault(by, {})[row["draw"]] = LearningCurve.of(json.loads(row["stage_rows"]))
    return {by: CurveGroup(by, dict(sorted(curves.items()))) for by, curves in found.items() if curves}


def draw(groups: Mapping[str, CurveGroup], title: str, judge: str) -> style.Figure:
    """One panel; the interval is that of the mean over draws, where there are three or more."""
    figure, ((panel,),) = style.new_figure(2.4)
    entries: style.Entries = {}
    shown: list[float] = []
    for place, (by, group) in enumerate(groups.items()):
        colour, marker = STYLES[place % len(STYLES)]
        points = group.means()
        mean = np.array([100 * float(np.mean(values)) for values in points.values()])
        intervals = [mean_interval(v) if len(v) >= style.FEWEST else None for v in points.values()]
        low, high = 100 * np.array([interval or (math.nan, math.nan) for interval in intervals]).T
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
