"""Claims on settings: a lower threshold and a lower β are better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drgst.lab.claims.effect import BELOW, Claim, measure
from drgst.lab.figures.sweep import Line

STEP = 0.1


def threshold(lines: Sequence[Line], dataset: str) -> Claim:
    """Accuracy against τ."""
    return _claim(
        "A lower threshold is better",
        "The best performance is achieved with a smaller τ: confident nodes contribute less (Fig. 7: 0.40 to 0.70).",
        f"τ on {dataset}",
        lines,
    )


def beta(lines: Sequence[Line], dataset: str) -> Claim:
    """Accuracy against β."""
    return _claim(
        "A lower β is better",
        "With the increase of β performance shows a downward trend (Fig. 8: 1/3 to 1). A larger β gives pseudo-labels "
        "less weight in Eq. 13, though the text says the reverse.",
        f"β on {dataset}",
        lines,
    )


def _claim(title: str, paper: str, setting: str, lines: Sequence[Line]) -> Claim:
    remarks = []
    for line in lines:
        x, y = line.means()
        shown = ", ".join(f"{mean:.1f} at {value:.3g}" for value, mean in zip(x, y, strict=True))
        best = x[int(np.nanargmax(y))]
        remarks.append(f"{line.recipe}, {line.per_class} labels per class: {shown}; best at {best:.3g}.")
    return Claim(
        title,
        paper,
        "The slope of test accuracy over the setting, fitted draw by draw: the 95 % interval (Student's t) of its mean "
        "lies below 0.",
        measure(f"{STEP:g} more of {setting}", [STEP * slope for slope in mean_slopes(lines)], BELOW),
        remarks,
    )


def mean_slopes(lines: Sequence[Line]) -> list[float]:
    """The mean slope of each draw over the lines: lines of one draw share its nodes, so they count as one value."""
    found: dict[int, list[float]] = {}
    for line in lines:
        for draw, slope in line.slopes().items():
            found.setdefault(draw, []).append(slope)
    return [float(np.mean(found[draw])) for draw in sorted(found)]
