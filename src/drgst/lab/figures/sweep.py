"""Accuracy against the threshold and against β (the paper's Figures 7 and 8)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from drgst.lab.figures.ablation import within_draws
from drgst.lab.figures.registry import Request
from drgst.lab.paper import DRGST, dataset_label, recipe_label
from drgst.lab.statistics import FEWEST
from drgst.lab.store.cells import RunFilter, Runs
from drgst.lab.store.schema import Row, canonical
from drgst.report import style

SYMBOLS = {"threshold": "threshold τ", "beta": "balance coefficient β"}
STYLES = {"drgst-do": (style.BLUE, "s"), "drgst-de": (style.VERMILLION, "D")}


@dataclass(frozen=True)
class Line:
    """One recipe and label count: value of the setting -> draw -> accuracy, with all other settings equal."""

    recipe: str
    per_class: int
    values: Mapping[float, Mapping[int, float]]
    one_split: bool = False  # the draws differ in the seed only

    def table(self) -> tuple[list[float], np.ndarray]:
        """Values, and accuracy (values, draws) on the draws that all values share."""
        x = sorted(self.values)
        shared = sorted(set.intersection(*(set(self.values[v]) for v in x)))
        return x, np.array([[self.values[v][d] for d in shared] for v in x]).reshape(len(x), len(shared))

    @property
    def draws(self) -> int:
        """The number of draws that all values share."""
        return self.table()[1].shape[1]

    def means(self) -> tuple[list[float], list[float]]:
        """Values and mean accuracy in percent on the draws that all values share; NaN where there are none."""
        x, table = self.table()
        return x, (100 * table.mean(axis=1)).tolist() if table.size else [math.nan] * len(x)

    def halves(self) -> list[float]:
        """Half of the within-draw 95 % interval of each mean, in percent; NaN for a single draw."""
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
    lines: Sequence[Line]


def prepare(request: Request, setting: str) -> Data | None:
    """Read the store; None where it has no two values on a shared draw."""
    name = request.dataset_name
    found = lines((row for row in request.rows if row["dataset"] == name), setting, request.wanted)
    shown = [line for line in found if line.draws]
    return Data(setting, name, shown) if shown else None


def lines(rows: Iterable[Row], setting: str, wanted: RunFilter | None = None) -> list[Line]:
    """For each recipe and label count the runs that differ in ``setting`` alone.

    Of several such sets of runs the one with most values is taken, of equal ones that with the fewest settings that
    differ from the recipe's own, then the newest.
    """
    wanted = wanted or RunFilter()
    groups: dict[tuple[str, int], dict[str, list[Row]]] = {}
    for row in rows:
        if row["recipe"] in DRGST and (row["pool"], row["validation"]) == (wanted.pool, wanted.validation):
            others = {name: value for name, value in json.loads(row["settings"]).items() if name != setting}
            key = canonical([row["recipe_version"], row["data_sha256"], others])
            groups.setdefault((row["recipe"], row["per_class"]), {}).setdefault(key, []).append(row)
    made = [
        Line(recipe, k, *max((_values(rows, setting) for rows in sets.values()), key=lambda each: each[:3])[3:])
        for (recipe, k), sets in sorted(groups.items(), key=lambda item: (DRGST.index(item[0][0]), item[0][1]))
    ]
    return [line for line in made if len(line.values) > 1]


def _values(rows: Sequence[Row], setting: str) -> tuple[int, int, str, dict[float, dict[int, float]], bool]:
    """The number of values, minus that of changed settings, the newest run's date; the values of a :class:`Line`."""
    values: dict[float, dict[int, float]] = {}
    for row in rows:
        value = json.loads(row["settings"]).get(setting)
        if value is not None:
            values.setdefault(round(value, 6), {})[row["draw"]] = row["test_accuracy"]
    changed = max(row["variant"].count("=") for row in rows)
    return len(values), -changed, max(row["created"] for row in rows), values, Runs(tuple(rows)).one_split


def swept(shown: Sequence[Line]) -> list[float]:
    """The values that two lines or more have, or all: the published value of one cell is not part of the sweep."""
    count = Counter(v for line in shown for v in line.values)
    return sorted(v for v in count if count[v] > 1) or sorted(count)


def draw(data: Data) -> style.Figure:
    """One panel per label count."""
    labels = sorted({line.per_class for line in data.lines})
    values, everywhere = swept(data.lines), len({line.draws for line in data.lines}) == 1
    figure, panels = style.accuracy_panels(len(labels), SYMBOLS[data.setting])
    missing = []
    for panel, k in zip(panels, labels, strict=True):
        shown = [line for line in data.lines if line.per_class == k]
        missing += [_panel(panel, shown, values)]
        every_other = 2 if len(values) > 4 and len(labels) > 1 else 1
        names = [_short(data.setting, v) if place % every_other == 0 else "" for place, v in enumerate(values)]
        panel.set_xticks(values, names)
        draws = "" if everywhere else f", {style.count_draws(line.draws for line in shown)}"
        panel.set_title(f"{k} labels per class{draws}")
    recipes = [recipe for recipe in DRGST if any(line.recipe == recipe for line in data.lines)]
    entries = {recipe_label(r): {"color": STYLES[r][0], "marker": STYLES[r][1]} for r in recipes}
    style.legend(figure, panels[0], entries, 3, any(missing))
    draws = style.count_draws(line.draws for line in data.lines) if everywhere else "shared draws"
    few = any(line.draws < FEWEST for line in data.lines)
    interval = "95 % within-draw interval" + (f" ({FEWEST} draws or more)" if few else "")
    style.caption(figure, f"{dataset_label(data.dataset)}: mean over {draws} and {interval}")
    return figure


def _panel(panel: Any, shown: Sequence[Line], values: Sequence[float]) -> bool:
    """Draw the lines of a label count, with gaps at ``values`` that were not run; whether there is such a gap."""
    missing = []
    for line in shown:
        colour, marker = STYLES[line.recipe]
        x, mean = line.means()
        known = dict(zip(x, mean, strict=True))
        places = sorted({*values, *x})
        panel.plot(places, [known.get(v, math.nan) for v in places], marker=marker, color=colour)
        missing += [(v, colour) for v in values if v not in known]
        if line.draws >= FEWEST:
            style.error_bars(panel, x, mean, line.halves(), colour)
    style.limit_y(panel, [mean for line in shown for mean in line.means()[1]])
    style.mark_not_run(panel, missing)
    return bool(missing)


def _short(setting: str, value: float) -> str:
    """1/3 for β, 0.45 for τ."""
    return str(Fraction(value).limit_denominator(12)) if setting == "beta" else f"{value:g}"
