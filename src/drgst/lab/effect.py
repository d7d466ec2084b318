"""Effects with confidence intervals, the verdict on a claim, and the number of draws that would decide it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from drgst.lab.statistics import student_quantile
from drgst.lab.store.cells import Cells
from drgst.lab.store.schema import Row
from drgst.lab.tables.layout import Column, Entry, ResultTable

Verdict = Literal["held", "refuted", "too small to tell", "not run"]
Range = tuple[float, float]
ABOVE, BELOW, EVERYWHERE = (0.0, math.inf), (-math.inf, 0.0), (-math.inf, math.inf)
LEVEL, POWER = 0.95, 0.8
LARGE = 200  # draws above which Student's t is taken as normal
MOST = 10_000  # draws above which no number is given
DECIMALS = 9  # of a figure in JSON
_UNITS: dict[str, tuple[Callable[[float], float], str]] = {  # unit -> from the value, and its format
    "points": (lambda x: 100 * x, "+.2f"),
    "times": (lambda x: math.exp(x) if x < 700 else math.inf, ".2f"),  # of logarithms
    "ρ": (float, "+.2f"),
}


@dataclass(frozen=True)
class Effect:
    """A mean with its 95 % interval, in ``unit``, and the verdict on the claim that it lies in a given range."""

    name: str
    unit: str
    mean: float
    low: float
    high: float
    count: int
    counted: str  # what ``count`` counts: draws, splits, networks, seeds
    verdict: Verdict
    needed: int | None = None  # draws (on each data set) that would decide it; None where it is decided or unknown
    reading: str = ""  # which cells, where a claim can be read in several ways
    cells: int | None = None  # that the mean is over
    elsewhere: Range | None = None  # 95 % interval for another data set

    @property
    def origin(self) -> str:
        """``16 cells, 39 splits``."""
        counts = {"cells": self.cells, self.counted: self.count}
        return ", ".join(f"{n:,} {word if n != 1 else word[:-1]}" for word, n in counts.items() if n is not None)

    def show(self, *values: float) -> str:
        """``+0.52`` or ``-0.10 to +1.14``; empty for an infinite interval."""
        how = _UNITS[self.unit][1]
        return " to ".join(f"{v:{how}}" for v in values) if all(map(math.isfinite, values)) else ""

    def figures(self) -> str:
        """``+0.52 points (95 %: -0.10 to +1.14; 16 cells, 39 splits; another data set: -1.20 to +2.24)``."""
        mean = f"ρ = {self.show(self.mean)}" if self.unit == "ρ" else f"{self.show(self.mean)} {self.unit}"
        interval, other = self.show(self.low, self.high), self.show(*(self.elsewhere or EVERYWHERE))
        parts = [f"95 %: {interval}" if interval else "", self.origin, f"another data set: {other}" if other else ""]
        return f"{mean} ({'; '.join(filter(None, parts))})"

    def decision(self) -> str:
        """``too small to tell; about 40 draws on each data set would be needed``."""
        if self.needed is None:
            return self.verdict
        number = f"more than {MOST:,}" if self.needed > MOST else f"about {self.needed:,}"
        counted = self.counted if self.cells is None else "draws on each data set"
        return f"{self.verdict}; {number} {counted} would be needed"

    def __str__(self) -> str:
        reading = f" ({self.reading})" if self.reading else ""
        return f"{self.name}{reading}: {self.figures()}: {self.decision()}."


@dataclass(frozen=True)
class Claim:
    """One claim: the text of the paper, the rule by which it is decided, and the measured effects."""

    title: str
    paper: str
    rule: str
    effects: Sequence[Effect]
    remarks: Sequence[str] = ()

    @property
    def verdict(self) -> Verdict:
        """A claim of several parts holds if every part does, and is refuted if one part is.

        A part that is measured in several readings is held or refuted only if it is so in each of them.
        """
        parts: dict[str, set[Verdict]] = {}
        for effect in self.effects:
            parts.setdefault(effect.name, set()).add(effect.verdict)
        found = {verdicts.pop() if len(verdicts) == 1 else "too small to tell" for verdicts in parts.values()}
        if not found:
            return "not run"
        return "refuted" if "refuted" in found else "held" if found == {"held"} else "too small to tell"

    def table(self) -> ResultTable:
        """One row per part, its readings side by side."""
        readings = list(dict.fromkeys(effect.reading for effect in self.effects))
        names = list(dict.fromkeys(effect.name for effect in self.effects))
        found = {(effect.name, effect.reading): effect for effect in self.effects}
        columns = [Column("effect", True)]
        for reading in readings:
            first = f"{reading}: mean" if reading else "mean"
            columns += [Column(first), Column("95 % interval"), Column("another data set")]
            columns += [Column("from"), Column("verdict", True)]
        body = [
            [Entry(name), *(entry for reading in readings for entry in _entries(found.get((name, reading))))]
            for name in names
        ]
        empty = {place for place in range(len(columns)) if not any(row[place].text for row in body)}
        body = [[entry for place, entry in enumerate(row) if place not in empty] for row in body]
        return ResultTable(self.title, [column for p, column in enumerate(columns) if p not in empty], body)

    def document(self) -> dict[str, Any]:
        """The claim as JSON: infinite bounds are None, and no figure has bits that differ between machines."""
        effects = [{key: _written(value) for key, value in asdict(effect).items()} for effect in self.effects]
        return {**asdict(self), "effects": effects, "verdict": self.verdict}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Claim:
        """The claim of a document."""
        bounds: dict[str, Any] = {"low": -math.inf, "high": math.inf}
        effects = []
        for effect in document["effects"]:
            fields: dict[str, Any] = {k: bounds.get(k) if v is None else v for k, v in effect.items()}
            effects.append(Effect(**fields))
        return cls(document["title"], document["paper"], document["rule"], effects, document["remarks"])


def _written(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_written(bound) for bound in value]
    if isinstance(value, float):
        return round(value, DECIMALS) if math.isfinite(value) else None
    return value


def _entries(effect: Effect | None) -> list[Entry]:
    if effect is None:
        return [Entry()] * 5
    other = effect.show(*(effect.elsewhere or EVERYWHERE))
    shown = (f"{effect.show(effect.mean)} {effect.unit}", effect.show(effect.low, effect.high), other, effect.origin)
    return [Entry(text) for text in (*shown, effect.decision())]


def decide(low: float, high: float, claimed: Range = ABOVE) -> Verdict:
    """Held if the interval lies in the claimed range, refuted if it lies outside, else too small to tell."""
    if claimed[0] < low and high < claimed[1]:
        return "held"
    return "refuted" if high < claimed[0] or low > claimed[1] else "too small to tell"


@dataclass(frozen=True)
class CellValues:
    """One value per draw of a cell. ``one_split``: the draws share one split and differ in the seed only."""

    dataset: str
    values: Mapping[int, float]
    one_split: bool = False
    weight: float = 1.0  # in the estimate; relative, negative for the second side of a contrast

    @property
    def mean(self) -> float:
        """Over draws."""
        return math.fsum(self.values.values()) / len(self.values)


def measure_cells(
    name: str, cells: Sequence[CellValues], claimed: Range = ABOVE, unit: str = "points", reading: str = ""
) -> list[Effect]:
    """θ = Σ_c w_c m_c, the weighted mean over these cells, with two 95 % intervals; empty without a cell.

    For these cells: θ ± t_ν √(Σ_g V_g), V_g = n_g/(n_g - 1) Σ_d (Σ_{c ∈ g} w_c (x_cd - m_c) / n_c)² over the draws d
    of group g. A group is the cells of a data set whose draws are nested, so that a draw counts once, or its cells of
    one public split, where only the seed varies; ν is Satterthwaite's. For another data set, with one value for each of
    the D data sets: θ ± t_{D-1} √(D/(D - 1) Σ_k (Σ_{c ∈ k} w_c m_c - θ Σ_{c ∈ k} |w_c| / Σ_c |w_c|)²).
    """
    cells = [cell for cell in cells if cell.values]
    if not cells:
        return []
    positive = math.fsum(cell.weight for cell in cells if cell.weight > 0)
    weights = [cell.weight / positive for cell in cells]
    estimate = math.fsum(w * cell.mean for w, cell in zip(weights, cells, strict=True))
    groups: dict[tuple[str, bool], dict[int, float]] = {}
    for w, cell in zip(weights, cells, strict=True):
        group = groups.setdefault((cell.dataset, cell.one_split), {})
        for draw, value in cell.values.items():
            group[draw] = group.get(draw, 0.0) + w * (value - cell.mean) / len(cell.values)
    low, high = _interval(estimate, groups.values())
    verdict, needed = decide(low, high, claimed), None
    if verdict == "too small to tell" and math.isfinite(high):
        spread = math.fsum(len(group) * _variance(group.values()) for group in groups.values())
        needed = draws_needed(min(abs(estimate - bound) for bound in claimed), math.sqrt(spread), len(groups))
    scale, splits = _UNITS[unit][0], sum(1 if one else len(group) for (_, one), group in groups.items())
    below, above = map(scale, _elsewhere(estimate, weights, cells))
    figures = (scale(estimate), scale(low), scale(high), splits, "splits", verdict, needed, reading, len(cells))
    return [Effect(name, unit, *figures, (below, above) if math.isfinite(above) else None)]


def measure(
    name: str, values: Sequence[float], claimed: Range = ABOVE, unit: str = "points", counted: str = "draws"
) -> list[Effect]:
    """The effect m ± t_{n-1} s/√n of independent values; empty without a value, no interval from a single one.

    Student's interval, not the bootstrap's: with three draws of the same sign the latter always excludes 0, and three
    draws have the same sign one time in four by chance.
    """
    found = measure_cells(name, [CellValues("", dict(enumerate(values)))], claimed, unit)
    return [replace(effect, counted=counted, cells=None) for effect in found]


def _variance(parts: Any) -> float:
    """n/(n-1) Σ u², of the sum of n independent parts of mean 0."""
    u = np.array(list(parts))
    return float(u.size / (u.size - 1) * (u**2).sum())


def _interval(estimate: float, groups: Any) -> Range:
    """θ ± t_ν √(Σ V_g) with ν = (Σ V_g)² / Σ V_g² / (n_g - 1); infinite where a group has a single draw."""
    if any(len(group) < 2 for group in groups):
        return EVERYWHERE
    found = [(_variance(group.values()), len(group) - 1) for group in groups]
    total = math.fsum(v for v, _ in found)
    freedom = total**2 / math.fsum(v**2 / n for v, n in found) if total else 1.0
    half = student_quantile(freedom, LEVEL) * math.sqrt(total)
    return estimate - half, estimate + half


def _elsewhere(estimate: float, weights: Sequence[float], cells: Sequence[CellValues]) -> Range:
    """The interval for another data set; infinite for fewer than two."""
    total, parts = math.fsum(map(abs, weights)), dict[str, float]()
    for w, cell in zip(weights, cells, strict=True):
        parts[cell.dataset] = parts.get(cell.dataset, 0.0) + w * cell.mean - estimate * abs(w) / total
    if len(parts) < 2:
        return EVERYWHERE
    half = student_quantile(len(parts) - 1, LEVEL) * math.sqrt(_variance(parts.values()))
    return estimate - half, estimate + half


def draws_needed(distance: float, deviation: float, groups: int = 1) -> int:
    """The smallest n with (t_{ν, 97.5 %} + t_{ν, 80 %}) s/√n ≤ d, where ν = groups · (n - 1).

    With n draws of standard deviation s the 95 % interval of an effect at distance d from the bound of the claim
    excludes the bound with a probability of about 80 %. :data:`MOST` + 1 stands for all larger numbers.
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2) + NormalDist().inv_cdf(POWER)
    if deviation * z > distance * math.sqrt(MOST):
        return MOST + 1
    n = max(2, math.ceil((z * deviation / distance) ** 2)) if distance else 2
    levels = (LEVEL, 2 * POWER - 1)
    while n <= LARGE and deviation * sum(
        student_quantile(groups * (n - 1), each) for each in levels
    ) > distance * math.sqrt(n):
        n += 1
    return n


def differences(
    cells: Cells, one: str, other: str, value: Callable[[Row], float | None] = lambda row: row["test_accuracy"]
) -> dict[tuple[str, int], CellValues]:
    """``one`` minus ``other`` on each shared draw of each data set and label count, by default of the test accuracy."""
    found = {}
    for place in sorted({cell[:2] for cell in cells}):
        if (*place, one) in cells and (*place, other) in cells:
            x, y = ({row["draw"]: value(row) for row in cells[*place, recipe].rows} for recipe in (one, other))
            pairs = {draw: (x[draw], y[draw]) for draw in sorted(x.keys() & y.keys())}
            values = {draw: a - b for draw, (a, b) in pairs.items() if a is not None and b is not None}
            if values:
                found[place] = CellValues(place[0], values, cells[*place, one].one_split)
    return found
