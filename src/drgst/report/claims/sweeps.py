"""Lower threshold and lower beta are better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drgst.evaluate.paired import bootstrap_interval
from drgst.report.claims.base import Claim, direction, verdict
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
    slopes = np.array([STEP * slope for line in lines for slope in line.slopes()])
    measured, held = [], []
    if slopes.size:
        low, high = bootstrap_interval(slopes, np.random.default_rng(0))
        held.append(high < 0)
        measured.append(
            f"On {dataset}, {STEP:g} more of {symbol} brings {100 * slopes.mean():+.2f} points (95 %: {100 * low:+.2f} "
            f"to {100 * high:+.2f}; {slopes.size} lines fitted, one a draw): {direction(low, high, -1)}."
        )
    for line in lines:
        x, y = line.means()
        shown = ", ".join(f"{value:.3g}: {mean:.1f}" for value, mean in zip(x, y, strict=True))
        measured.append(f"{line.name}: {shown}; best at {symbol} = {x[int(np.nanargmax(y))]:.3g}.")
    return Claim(
        title,
        paper,
        f"The slope of test accuracy over {symbol}, fitted draw by draw: the 95 % bootstrap interval of its mean lies "
        "below 0.",
        measured,
        verdict(held),
    )
