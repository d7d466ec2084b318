"""Effects with confidence intervals, the verdict on a claim, and the number of draws that would decide it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from drgst.lab.statistics import mean_interval, student_quantile
from drgst.lab.store.cells import Cells

Verdict = Literal["held", "refuted", "too small to tell", "not run"]
Range = tuple[float, float]
ABOVE, BELOW = (0.0, math.inf), (-math.inf, 0.0)
LEVEL, POWER = 0.95, 0.8
LARGE = 200  # draws above which Student's t is taken as normal
MOST = 10_000  # draws above which no number is given
_UNITS: dict[str, tuple[Callable[[float], float], str]] = {  # unit -> from the value, and its format
    "points": (lambda x: 100 * x, "+.2f"),
    "times": (lambda x: math.exp(min(x, 700.0)), ".2f"),  # of logarithms
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
    counted: str  # what ``count`` counts: draws, networks, nodes
    verdict: Verdict
    needed: int | None = None  # how many would decide it; None where it is decided, or unknown from one value

    def figures(self) -> str:
        """``+0.52 points (95 %: -0.10 to +1.14, 12 draws)``."""
        how = _UNITS[self.unit][1]
        mean = f"ρ = {self.mean:{how}}" if self.unit == "ρ" else f"{self.mean:{how}} {self.unit}"
        count = f"{self.count:,} {self.counted if self.count != 1 else self.counted.removesuffix('s')}"
        interval = f"95 %: {self.low:{how}} to {self.high:{how}}, " if math.isfinite(self.high - self.low) else ""
        return f"{mean} ({interval}{count})"

    def __str__(self) -> str:
        needed = ""
        if self.needed is not None:
            number = f"more than {MOST:,}" if self.needed > MOST else f"about {self.needed:,}"
            needed = f"; {number} {self.counted} would be needed"
        return f"{self.name}: {self.figures()}: {self.verdict}{needed}."


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
        """A claim of several parts holds if every part does, and is refuted if one part is."""
        found = {effect.verdict for effect in self.effects}
        if not found:
            return "not run"
        return "refuted" if "refuted" in found else "held" if found == {"held"} else "too small to tell"

    def document(self) -> dict[str, Any]:
        """The claim as JSON: infinite bounds are None."""
        effects = [
            {key: None if isinstance(v, float) and not math.isfinite(v) else v for key, v in asdict(effect).items()}
            for effect in self.effects
        ]
        return {**asdict(self), "effects": effects, "verdict": self.verdict}


def decide(low: float, high: float, claimed: Range = ABOVE) -> Verdict:
    """Held if the interval lies in the claimed range, refuted if it lies outside, else too small to tell."""
    if claimed[0] < low and high < claimed[1]:
        return "held"
    return "refuted" if high < claimed[0] or low > claimed[1] else "too small to tell"


def measure(
    name: str, values: Sequence[float], claimed: Range = ABOVE, unit: str = "points", counted: str = "draws"
) -> list[Effect]:
    """The effect m ± t_{n-1} s/√n of one value per draw; empty without a value, no interval from a single one.

    Student's interval, not the bootstrap's: with three draws of the same sign the latter always excludes 0, and three
    draws have the same sign one time in four by chance.
    """
    if not len(values):
        return []
    mean = math.fsum(values) / len(values)
    low, high = mean_interval(list(values)) or (-math.inf, math.inf)
    verdict = decide(low, high, claimed)
    needed = None
    if verdict == "too small to tell" and len(values) > 1:
        needed = draws_needed(min(abs(mean - bound) for bound in claimed), float(np.std(values, ddof=1)))
    scale = _UNITS[unit][0]
    return [Effect(name, unit, scale(mean), scale(low), scale(high), len(values), counted, verdict, needed)]


def draws_needed(distance: float, deviation: float) -> int:
    """The smallest n with (t_{n-1, 97.5 %} + t_{n-1, 80 %}) s/√n ≤ d.

    With n draws of standard deviation s the 95 % interval of an effect at distance d from the bound of the claim
    excludes the bound with a probability of about 80 %. :data:`MOST` + 1 stands for all larger numbers.
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2) + NormalDist().inv_cdf(POWER)
    if deviation * z > distance * math.sqrt(MOST):
        return MOST + 1
    n = max(2, math.ceil((z * deviation / distance) ** 2)) if distance else 2
    while n <= LARGE and _margin(n) * deviation > distance * math.sqrt(n):
        n += 1
    return n


def _margin(n: int) -> float:
    return student_quantile(n - 1, LEVEL) + student_quantile(n - 1, 2 * POWER - 1)


def margins(cells: Cells, place: tuple[str, int], one: str, other: str) -> dict[int, float]:
    """Draw -> test accuracy of ``one`` minus that of ``other`` on a data set and label count; empty without both."""
    if (*place, one) not in cells or (*place, other) not in cells:
        return {}
    x, y = (cells[*place, recipe].figure("test_accuracy") for recipe in (one, other))
    return {draw: x[draw] - y[draw] for draw in sorted(x.keys() & y.keys())}


def differences(cells: Cells, one: str, other: str) -> list[float]:
    """``one`` minus ``other`` on each draw of each data set and label count that both have."""
    places = sorted({cell[:2] for cell in cells})
    return [margin for place in places for margin in margins(cells, place, one, other).values()]
