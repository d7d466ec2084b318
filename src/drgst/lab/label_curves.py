"""Learning curves in Python: ``drgst.lab.label_curve(data, by=("suggest", "random"))``, its results and figure."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.extras import import_extra
from drgst.graph.core import Graph
from drgst.io.npz import save_graph
from drgst.lab.grid.executors import Executor, Inline, Local
from drgst.lab.grid.run_grid import BenchCallback, make_runs
from drgst.lab.progress import bench_display
from drgst.lab.simulate import Plan, execute_curve
from drgst.lab.statistics import FEWEST, compare, mean_interval
from drgst.lab.store import Store
from drgst.lab.store.schema import Row
from drgst.lab.tables.layout import Column, Entry, ResultTable, render
from drgst.report import style
from drgst.runs.metrics import finite

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

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

    def seconds(self) -> float:
        """Mean of one choice; NaN where none was timed."""
        times = np.array([s for curve in self.curves.values() for s in curve.figures["choice_seconds"]])
        return float(times[np.isfinite(times)].mean()) if np.isfinite(times).any() else float("nan")

    def mean_curve(self) -> LearningCurve:
        """The means over the draws, at the numbers of labels that all draws have."""
        points = {m: values for m, values in self.means().items() if len(values) == len(self.curves)}
        return LearningCurve(tuple(points), {"accuracy": tuple(float(np.mean(values)) for values in points.values())})

    def share_needed(self, other: CurveGroup) -> float:
        """The share of the further labels after which the mean accuracy is that of ``other`` at its end."""
        curve = self.mean_curve()
        first, last = curve.labels[0], curve.labels[-1]
        return (curve.needed(other.mean_curve().figures["accuracy"][-1]) - first) / max(last - first, 1)

    def means(self) -> dict[int, list[float]]:
        """Number of labels -> the accuracy in each draw that has it."""
        found: dict[int, list[float]] = {}
        for curve in self.curves.values():
            for labels, value in zip(curve.labels, curve.figures["accuracy"], strict=True):
                found.setdefault(labels, []).append(value)
        return dict(sorted(found.items()))


def curve_groups(rows: Iterable[Row], order: Iterable[str]) -> dict[str, CurveGroup]:
    """Chooser -> its curves, in the given order, from rows of the store that have ``variant``, ``draw`` and points."""
    found: dict[str, dict[int, LearningCurve]] = {name: {} for name in order}
    for row in rows:
        by = row["variant"].split("by=", 1)[1].split(",")[0]
        found.setdefault(by, {})[row["draw"]] = LearningCurve.of(json.loads(row["stage_rows"]))
    return {by: CurveGroup(by, dict(sorted(curves.items()))) for by, curves in found.items() if curves}


def draw(groups: Mapping[str, CurveGroup], title: str) -> style.Figure:
    """One panel; the interval is that of the mean over draws, where there are three or more."""
    figure, ((panel,),) = style.new_figure(2.4)
    entries: style.Entries = {}
    shown: list[float] = []
    for place, (by, group) in enumerate(groups.items()):
        colour, marker = STYLES[place % len(STYLES)]
        points = group.means()
        mean = np.array([100 * float(np.mean(values)) for values in points.values()])
        intervals = [mean_interval(v) if len(v) >= FEWEST else None for v in points.values()]
        low, high = 100 * np.array([interval or (math.nan, math.nan) for interval in intervals]).T
        x = list(points)
        panel.plot(x, mean, color=colour, marker=marker, ms=2.4)
        panel.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
        entries[by] = {"color": colour, "marker": marker, "ms": 2.4}
        shown += mean.tolist()
    panel.set_xlabel("labels")
    panel.set_ylabel("test accuracy (%)")
    panel.set_title(f"{title}, {style.count_draws(len(group.curves) for group in groups.values())}")
    style.limit_y(panel, shown)
    style.legend(figure, panel, entries, 3)
    style.caption(figure, f"mean and 95 % interval ({FEWEST} draws or more)")
    return figure


READ = ("variant", "draw", "stage_rows")
AGAINST = "random"


@dataclass(frozen=True, eq=False)
class LabelCurves:
    """The learning curves of several choosers on the same draws."""

    plan: Plan
    groups: Mapping[str, CurveGroup]  # chooser -> its curves
    dataset: str = ""
    failures: tuple[Row, ...] = ()
    ran: int = field(default=0, compare=False)
    reused: int = field(default=0, compare=False)

    def to_frame(self) -> pd.DataFrame:
        """One row per chooser, draw and fit: labels, accuracy, macro F1, ECE and the seconds of the next choice."""
        pandas = import_extra("pandas", "notebook", "a data frame")
        rows = [
            {"by": by, "draw": draw, "labels": m, **{name: values[k] for name, values in curve.figures.items()}}
            for by, group in self.groups.items()
            for draw, curve in group.curves.items()
            for k, m in enumerate(curve.labels)
        ]
        return pandas.DataFrame(rows)

    def summary(self, against: str = AGAINST) -> list[dict[str, Any]]:
        """One dict per chooser: accuracy at the start, after 20 labels and at the end, area, and ``against``."""
        return [self._summary(group, self.groups.get(against)) for group in self.groups.values()]

    def _summary(self, group: CurveGroup, base: CurveGroup | None) -> dict[str, Any]:
        """Means over draws, and the paired differences from ``base``, None where there is nothing to compare."""
        base = None if base is group else base
        compared = base and compare(group.values(), base.values())
        early = base and compare(group.after(FIRST), base.after(FIRST))
        return {
            "by": group.by,
            "draws": len(group.curves),
            "start": _mean(group.after(0)),
            "after_20": _mean(group.after(FIRST)),
            "after_20_difference": early and early.mean,
            "end": float(np.mean([curve.figures["accuracy"][-1] for curve in group.curves.values()])),
            "area": _mean(group.values()),
            "difference": compared and compared.mean,
            "low": compared and compared.low,
            "high": compared and compared.high,
            "p": compared and compared.p,
            "share_needed": base and compared and finite(group.share_needed(base)),
            "macro_f1_area": _mean(group.values("macro_f1")),
            "ece_area": _mean(group.values("ece")),
            "seconds_per_choice": group.seconds(),
        }

    def table(self, how: str = "text", *, against: str = AGAINST) -> str:
        """Areas and their paired differences from ``against``, as ``text``, ``md``, ``latex``, ``html`` or ``csv``."""
        plan = self.plan
        began = f"{plan.start} labels per class" if plan.start else "no labels"
        title = f"{plan.recipe} on {self.dataset}: from {began}, {plan.budget} more in batches of {plan.batch}"
        names = ("draws", "start", f"+{FIRST}", "end", "area", f"- {against}", "95 % interval", "p", "needs")
        columns = [Column("chosen by", is_text=True), *map(Column, (*names, "macro F1", "ECE", "s"))]
        rows = self.summary(against)
        best = max((row["area"] for row in rows), default=0.0)
        notes = (
            "accuracy on test nodes in %; area, macro F1 and ECE are means over the curve; s per choice",
            f"needs: share of the labels after which the accuracy is that of {against} at the end",
        )
        return render(ResultTable(title, columns, [_entries(row, best) for row in rows], notes=notes), how)

    def plot(self) -> Figure:
        """Accuracy against the number of labels, with 95 % intervals."""
        style.check_matplotlib()
        with style.styled():
            return draw(self.groups, f"{self.plan.recipe} on {self.dataset}")

    def __repr__(self) -> str:
        counts = ", ".join(f"{by} {len(group.curves)}" for by, group in self.groups.items())
        return f"LabelCurves({self.plan.recipe} on {self.dataset}: {counts} draws)"

    def _repr_html_(self) -> str:
        return self.table("html")


def label_curve(
    data: str | Path | Graph = "cora",
    *,
    recipe: str = "drgst-plus",
    start: int = 3,
    budget: int = 100,
    batch: int = 10,
    by: str | Sequence[str] = ("suggest", "random"),
    draws: int = 5,
    first_draw: int = 0,
    validation: str | None = None,
    settings: Mapping[str, Any] | None = None,
    store: str | Path | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> LabelCurves:
    """Reveal labels batch by batch as each chooser of ``by`` asks for them, refit, and record how accuracy grows.

    ``start`` is the number of labels per class at the start; 0 starts from no labels at all. ``budget`` labels are
    asked for, ``batch`` at a time, of nodes that are neither validation nor test nodes. Curves are kept in the file
    ``store``, and a curve that is there is not made again. ``jobs`` is the number of processes (default: one per core;
    1: this process).
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drgst-label-curve-")))
        source = str(data)
        if isinstance(data, Graph):
            source = str(folder / f"{data.name}.npz")
            save_graph(data, source)
        choosers = (by,) if isinstance(by, str) else tuple(by)
        changes = dict(settings or {})
        plan = Plan(source, recipe, start, budget, batch, choosers, draws, first_draw, validation, changes)
        executor = stack.enter_context(curve_executor(jobs))
        opened = stack.enter_context(Store(store or folder / "runs.db", create=True))
        return make_curves(plan, opened, executor, stack.enter_context(bench_display(progress)))


def make_curves(plan: Plan, store: Store, executor: Executor, callback: BenchCallback | None = None) -> LabelCurves:
    """The curves of ``plan``: those that the store has, and the others made and kept."""
    tasks = plan.tasks()
    result = make_runs(tasks, store, executor, callback)
    groups = curve_groups(store.rows(result.keys, READ), plan.by)
    return LabelCurves(plan, groups, tasks[0].dataset, tuple(result.failures), result.ran, result.reused)


def curve_executor(jobs: int | None) -> Executor:
    """``jobs`` processes that compute curves; 1: this process."""
    return Inline(execute_curve) if jobs == 1 else Local(jobs, work=execute_curve)


def _entries(row: Mapping[str, Any], best: float) -> list[Entry]:
    interval = "" if row["low"] is None else f"{100 * row['low']:+.1f} to {100 * row['high']:+.1f}"
    difference = "" if row["difference"] is None else f"{100 * row['difference']:+.2f}"
    percent = {name: f"{100 * row[name]:.1f}" for name in ("start", "after_20", "end", "macro_f1_area", "ece_area")}
    texts = [row["by"], str(row["draws"]), percent["start"], percent["after_20"], percent["end"]]
    texts += [f"{100 * row['area']:.2f}", difference, interval, "" if row["p"] is None else f"{row['p']:.3f}"]
    texts += ["" if row["share_needed"] is None else f"{row['share_needed']:.0%}"]
    texts += [percent["macro_f1_area"], percent["ece_area"], f"{row['seconds_per_choice']:.2f}"]
    return [Entry(text, rank=int(place == 5 and row["area"] == best)) for place, text in enumerate(texts)]


def _mean(values: Mapping[int, float]) -> float:
    return sum(values.values()) / len(values)
