"""A claim, and the rule by which it is said to have held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from drgst.evaluate.paired import Comparison, compare
from drgst.evaluate.results import CellName, Runs

Verdict = Literal["held", "not confirmed", "not measured"]
Cells = Mapping[CellName, Runs]


@dataclass(frozen=True)
class Claim:
    """One claim: the paper's words, what was measured, and the verdict."""

    title: str
    paper: str  # what it says
    rule: str  # when it counts as held
    measured: Sequence[str]  # sentences with figures
    verdict: Verdict


def verdict(held: Sequence[bool]) -> Verdict:
    """Held where every question was answered with yes; not measured where there was none."""
    return "not measured" if not held else "held" if all(held) else "not confirmed"


def paired(cells: Cells, one: str, other: str, figure: str = "test_accuracy") -> Comparison | None:
    """``one`` against ``other`` on every draw of every data set and label count that both have."""
    a: dict[int, float] = {}
    b: dict[int, float] = {}
    for dataset, k in sorted({cell[:2] for cell in cells}):
        first, second = (cells.get((dataset, k, recipe)) for recipe in (one, other))
        if first is None or second is None:
            continue
        x, y = first.figure(figure), second.figure(figure)
        for draw in sorted(x.keys() & y.keys()):
            a[len(a)], b[len(b)] = x[draw], y[draw]
    return compare(a, b)


def points(found: Comparison) -> str:
    """``+0.52 points (95 %: -0.10 to +1.10; 12 pairs)``."""
    pairs = f"{found.pairs} pair{'s' if found.pairs != 1 else ''}"
    return f"{100 * found.mean:+.2f} points (95 %: {100 * found.low:+.2f} to {100 * found.high:+.2f}; {pairs})"


def direction(low: float, high: float, wanted: int = 1) -> str:
    """What an interval says of a claim that its figure has the sign ``wanted``."""
    low, high = (low, high) if wanted > 0 else (-high, -low)
    if low > 0:
        return "as claimed"
    return "the opposite was measured" if high < 0 else "can't be told from chance"
