"""Learning curves in Python: ``drgst.lab.label_curve(data, by=("suggest", "random"))`` and its results."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drgst.extras import import_extra
from drgst.graph.core import Graph
from drgst.io.npz import save_graph
from drgst.lab.curves.plan import Plan
from drgst.lab.curves.simulate import execute_curve
from drgst.lab.curves.summary import FIRST, CurveGroup, curve_groups, draw
from drgst.lab.executors import Executor, Inline, Local
from drgst.lab.grid.run_grid import BenchCallback, make_runs
from drgst.lab.progress import bench_display
from drgst.lab.store import Store
from drgst.lab.store.schema import Row
from drgst.lab.tables.layout import Column, Entry, ResultTable, render
from drgst.runs.metrics import finite

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

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
        compared = None if base is None else group.against(base)
        return {
            "by": group.by,
            "draws": len(group.curves),
            "start": _mean(group.after(0)),
            "after_20": _mean(group.after(FIRST)),
            "after_20_difference": base and _mean_difference(group.after(FIRST), base.after(FIRST)),
            "end": group.last("accuracy"),
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
            f"accuracy on {plan.judge} nodes in %; area, macro F1 and ECE are means over the curve; s per choice",
            f"needs: share of the labels after which the accuracy is that of {against} at the end",
        )
        return render(ResultTable(title, columns, [_entries(row, best) for row in rows], notes=notes), how)

    def plot(self) -> Figure:
        """Accuracy against the number of labels, with 95 % intervals."""
        from drgst.report.style import check_matplotlib, styled

        check_matplotlib()
        with styled():
            return draw(self.groups, f"{self.plan.recipe} on {self.dataset}", self.plan.judge)

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
    judge: str = "test",
    settings: Mapping[str, Any] | None = None,
    store: str | Path | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
) -> LabelCurves:
    """Reveal labels batch by batch as each chooser of ``by`` asks for them, refit, and record how accuracy grows.

    ``start`` is the number of labels per class at the start; 0 starts from no labels at all. ``budget`` labels are
    asked for, ``batch`` at a time, of nodes that are neither validation nor test nodes. ``judge`` is whose labels the
    accuracy is measured on. Curves are kept in the file ``store``, and a curve that is there is not made again.
    ``jobs`` is the number of processes (default: one per core; 1: this process).
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drgst-label-curve-")))
        source = str(data)
        if isinstance(data, Graph):
            source = str(folder / f"{data.name}.npz")
            save_graph(data, source)
        choosers = (by,) if isinstance(by, str) else tuple(by)
        changes = dict(settings or {})
        plan = Plan(source, recipe, start, budget, batch, choosers, draws, first_draw, validation, judge, changes)
        executor = stack.enter_context(curve_executor(jobs))
        opened = stack.enter_context(Store(store or folder / "runs.db", create=True))
        return make_curves(plan, opened, executor, stack.enter_context(bench_display(progress, executor.slots)))


def make_curves(plan: Plan, store: Store, executor: Executor, callback: BenchCallback | None = None) -> LabelCurves:
    """The curves of ``plan``: those that the store has, and the others made and kept."""
    tasks = plan.tasks()
    keys = [task.key for task in tasks]
    result = make_runs(keys, tasks, store, executor, callback)
    groups = curve_groups(store.rows(keys, READ), plan.by)
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


def _mean_difference(a: Mapping[int, float], b: Mapping[int, float]) -> float | None:
    shared = a.keys() & b.keys()
    return sum(a[d] - b[d] for d in shared) / len(shared) if shared else None
