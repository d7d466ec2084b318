"""Lower threshold and lower beta are better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drgst.report.claims.base import Claim, Difference, direction, verdict
from drgst.report.figures.sweep import Line

STEP = 0.1


def threshold(lines: Sequence[Line], dataset: str) -> Claim:
    """Accuracy against τ."""
    return _claim(
        "A lower threshold is better",
        "The best performance is achieved with a smaller τ: confident nodes contribute less (Fig. 7: 0.40 to 0.70).",
        "τ",
        lines,
        dataset,
    )


def beta(lines: Sequence[Line], dataset: str) -> Claim:
    """Accuracy against β."""
    return _claim(
        "A lower β is better",
        "With the increase of β performance shows a downward trend (Fig. 8: 1/3 to 1). A larger β gives pseudo-labels "
        "less weight in Eq. 13, though the text says the reverse.",
        "β",
        lines,
        dataset,
    )


def _claim(title: str, paper: str, symbol: str, lines: Sequence[Line], dataset: str) -> Claim:
    found = Difference.of([STEP * slope for slope in by_draw(lines)])
    is_numeric, held = [], []
    if found is not None:
        held.append(found.high < 0)
        is_numeric.append(
            f"On {dataset}, {STEP:g} more of {symbol} brings {found.told('draw')}, by a line fitted to each: "
            f"{direction(found.low, found.high, -1)}."
        )
    for line in lines:
        x, y = line.means()
        shown = ", ".join(f"{value:.3g}: {mean:.1f}" for value, mean in zip(x, y, strict=True))
        is_numeric.append(f"{line.name}: {shown}; best at {symbol} = {x[int(np.nanargmax(y))]:.3g}.")
    return Claim(
        title,
        paper,
        f"The slope of test accuracy over {symbol}, fitted draw by draw: the 95 % interval (Student's) of its mean "
        "lies below 0.",
        is_numeric,
        verdict(held),
    )


def by_draw(lines: Sequence[Line]) -> list[float]:
    """The mean slope of each draw over the lines: those of one draw share its nodes, so they count as one."""
    found: dict[int, list[float]] = {}
    for line in lines:
        for draw, slope in line.slopes().items():
            found.setdefault(draw, []).append(slope)
    return [float(np.mean(found[draw])) for draw in sorted(found)]
