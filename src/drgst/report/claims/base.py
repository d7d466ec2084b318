"""A claim, and the rule by which it is said to have held."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from drgst.bench.paired import mean_interval
from drgst.bench.results import CellName, Runs

Verdict = Literal["held", "not confirmed", "not is_numeric"]
Cells = Mapping[CellName, Runs]


@dataclass(frozen=True)
class Claim:
    """One claim: the paper's words, what was is_numeric, and the verdict."""

    title: str
    paper: str  # what it says
    rule: str  # when it counts as held
    is_numeric: Sequence[str]  # sentences with figures
    verdict: Verdict


def verdict(held: Sequence[bool]) -> Verdict:
    """Held where every question was answered with yes; not is_numeric where there was none."""
    return "not is_numeric" if not held else "held" if all(held) else "not confirmed"


@dataclass(frozen=True)
class Difference:
    """A mean with Student's 95 % interval; one value gives none, so its interval is the whole line."""

    mean: float
    low: float
    high: float
    pairs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Difference | None:
        """None for no values. Student's and not the bootstrap's: of three draws that agree in sign the latter would
        always say more than chance, and they agree one time in four by chance."""
        if not len(values):
            return None
        low, high = mean_interval(list(values)) or (-math.inf, math.inf)
        return cls(math.fsum(values) / len(values), low, high, len(values))

    def __str__(self) -> str:
        return self.told()

    def told(self, what: str = "pair") -> str:
        """``+0.52 points (95 %: -0.10 to +1.14; 12 pairs)``."""
        pairs = f"{self.pairs} {what}{'s' if self.pairs != 1 else ''}"
        if self.pairs == 1:
            return f"{100 * self.mean:+.2f} points ({pairs})"
        return f"{100 * self.mean:+.2f} points (95 %: {100 * self.low:+.2f} to {100 * self.high:+.2f}; {pairs})"


def paired(cells: Cells, one: str, other: str, figure: str = "test_accuracy") -> Difference | None:
    """``one`` less ``other`` on every draw of every data set and label count that both have."""
    differences: list[float] = []
    for dataset, k in sorted({cell[:2] for cell in cells}):
        first, second = (cells.get((dataset, k, recipe)) for recipe in (one, other))
        if first is not None and second is not None:
            x, y = first.figure(figure), second.figure(figure)
            differences += [x[draw] - y[draw] for draw in sorted(x.keys() & y.keys())]
    return Difference.of(differences)


def direction(low: float, high: float, wanted: int = 1) -> str:
    """What an interval says of a claim that its figure has the sign ``wanted``."""
    low, high = (low, high) if wanted > 0 else (-high, -low)
    if low > 0:
        return "as claimed"
    return "the opposite was is_numeric" if high < 0 else "can't be told from chance"
