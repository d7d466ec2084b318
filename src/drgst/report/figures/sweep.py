"""Impact of the threshold and of beta (the paper's Figures 7 and 8)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.bench.grid import Grid
from drgst.bench.results import Row, Wanted
from drgst.bench.task import NEUTRAL, canonical
from drgst.report.experiments import FAMILIES, SWEEP_LABELS, Plan, sweep
from drgst.report.figures.ablation import within_draws
from drgst.report.figures.request import Request
from drgst.report.figures.style import BLUE, FAINT, FEWEST, VERMILLION, bound, draws_said, new_figure, note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMBOLS = {"threshold": "threshold τ", "beta": "balance coefficient β"}
MARKERS = {3: "o", 5: "s", 10: "^", 20: "D"}
DASHES = {3: "-", 5: "--", 10: ":", 20: "-."}


@dataclass(frozen=True)
class Line:
    """One recipe with so many labels a class: value of the setting -> draw -> accuracy, all else being equal."""

    recipe: str
    per_class: int
    values: Mapping[float, Mapping[int, float]]

    @property
    def name(self) -> str:
        """``do-3``, as in the paper."""
        return f"{self.recipe.rpartition('-')[2]}-{self.per_class}"

    def table(self) -> tuple[list[float], np.ndarray]:
        """Values, and accuracy (values, draws) on the draws that all values share."""
        x = sorted(self.values)
        shared = sorted(set.intersection(*(set(self.values[v]) for v in x)))
        return x, np.array([[self.values[v][d] for d in shared] for v in x]).reshape(len(x), len(shared))

    @property
    def draws(self) -> int:
        """How many draws all values share; 0: nothing can be drawn."""
        return self.table()[1].shape[1]

    def means(self) -> tuple[list[float], list[float]]:
        """Values and mean accuracy in percent on the draws that all values share; NaN where there are none."""
        x, table = self.table()
        return x, (100 * table.mean(axis=1)).tolist() if table.size else [math.nan] * len(x)

    def halves(self) -> list[float]:
        """Half of the 95 % interval of each mean without the differences between draws, in percent; NaN for none."""
        _, table = self.table()
        return [math.nan if half is None else 100 * half for half in within_draws(table)] if table.size else []

    def slopes(self) -> dict[int, float]:
        """Draw d -> b_d of the least-squares line accuracy = a + b · value, for draws with two values or more."""
        draws = sorted({d for found in self.values.values() for d in found})
        found = {d: np.array(sorted((v, by[d]) for v, by in self.values.items() if d in by)).T for d in draws}
        return {d: float(np.polyfit(p[0], p[1], 1)[0]) for d, p in found.items() if p.shape[1] > 1}


@dataclass(frozen=True)
class Data:
    """The lines of one setting on one data set."""

    setting: str
    dataset: str
    lines: list[Line]


def grids(plan: Plan, name: str) -> list[Grid]:
    """What to run for the figure."""
    labels = [k for k in plan.per_class if k in SWEEP_LABELS] or plan.per_class
    narrowed = Plan(plan.datasets, labels, plan.draws, plan.changes, plan.root)
    return sweep(narrowed, name, tuple(FAMILIES.values()))


def prepare(request: Request, name: str) -> Data:
    """From the store."""
    found = lines((row for row in request.rows if row["dataset"] == request.named), name, request.wanted)
    return Data(name, request.named, [line for line in found if line.draws])


def lines(rows: Iterable[Row], setting: str, wanted: Wanted | None = None) -> list[Line]:
    """Of each recipe and label count the runs that differ in ``setting`` alone; where there are several such sets,
    the one with most values (of equal ones the newest). Sets of one value are left out."""
    wanted = wanted or Wanted()
    groups: dict[tuple[str, int], dict[str, list[Row]]] = {}
    for row in rows:
        if row["recipe"] in FAMILIES.values() and (row["pool"], row["validation"]) == (wanted.pool, wanted.validation):
            told = [row["algorithm"], row["data_sha256"], _others(row["settings"], setting)]
            groups.setdefault((row["recipe"], row["per_class"]), {}).setdefault(canonical(told), []).append(row)
    order = list(FAMILIES.values())
    made = [
        _widest(recipe, k, setting, sets)
        for (recipe, k), sets in sorted(groups.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    ]
    return [line for line in made if len(line.values) > 1]


def _widest(recipe: str, k: int, setting: str, sets: Mapping[str, list[Row]]) -> Line:
    found = []
    for rows in sets.values():
        values: dict[float, dict[int, float]] = {}
        for row in rows:
            value = json.loads(row["settings"]).get(setting)
            if value is not None:
                values.setdefault(round(value, 6), {})[row["draw"]] = row["test_accuracy"]
        found.append((len(values), max(row["created"] for row in rows), values))
    return Line(recipe, k, max(found, key=lambda each: each[:2])[2])


def _others(settings: str, setting: str) -> dict[str, Any]:
    told = json.loads(settings)
    return {k: v for k, v in told.items() if k != setting and (k not in NEUTRAL or NEUTRAL[k] != v)}


def draw(data: Data) -> Figure:
    """A line a recipe and label count."""
    figure, axes = new_figure(2.2)
    panel = axes[0, 0]
    values = sorted({v for line in data.lines for v in line.values})
    for line in data.lines:
        _line(panel, line, values)
    bound(panel, [mean for line in data.lines for mean in line.means()[1]])
    panel.set_xticks(values, [_short(data.setting, v) for v in values])
    panel.set(xlabel=SYMBOLS[data.setting], ylabel="test accuracy, %", title=data.dataset)
    figure.legend(loc="outside upper center", ncols=min(6, len(data.lines)))
    shared = draws_said(line.draws for line in data.lines)
    note(figure, f"means over {shared}, the same along a line; intervals as in ablations")
    return figure


def _line(panel: Any, line: Line, values: Iterable[float]) -> None:
    """With gaps at ``values`` that were not run, so that no line is drawn across what is not known."""
    colour, k = BLUE if line.recipe.endswith("do") else VERMILLION, line.per_class
    x, mean = line.means()
    known = dict(zip(x, mean, strict=True))
    shown = {v: known.get(v, math.nan) for v in values}
    dash, marker = DASHES.get(k, "-"), MARKERS.get(k, "x")
    panel.plot(list(shown), list(shown.values()), dash, marker=marker, color=colour, label=line.name)
    if line.draws >= FEWEST:
        panel.errorbar(x, mean, line.halves(), ls="none", color=colour, alpha=FAINT, elinewidth=0.7, capsize=1.5)


def _short(setting: str, value: float) -> str:
    """1/3 for β, 0.45 for τ."""
    return str(Fraction(value).limit_denominator(12)) if setting == "beta" else f"{value:g}"
