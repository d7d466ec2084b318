"""About twice the time of plain self-training."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import numpy as np

from drgst.bench.results import Row
from drgst.report.claims.base import Cells, Claim, Difference, verdict
from drgst.report.experiments import FAMILIES

LOW, HIGH = 1.5, 2.5  # "approximately twice"


def twice(cells: Cells) -> Claim:
    """A stage of DR-GST against a stage of thresholded self-training with the same settings."""
    is_numeric, held = [], []
    for whole in FAMILIES.values():
        for figure in ("seconds", "epochs"):
            found = Difference.of(np.log(stage_ratios(cells, whole, f"{whole}-wo", figure)).tolist())
            if found is None:
                continue
            is_numeric.append(f"A stage of {whole} takes {_times(found)} the {figure} of one of {whole}-wo.")
            if figure == "seconds":
                held.append(LOW <= math.exp(found.mean) <= HIGH)
    return Claim(
        "About twice the time of plain self-training",
        "The time complexity of DR-GST is approximately twice that of the general self-training framework (Appendix).",
        f"Geometric mean over draws of the seconds a stage takes, against thresholded self-training with the same "
        f"threshold: {LOW:g} to {HIGH:g}. Epochs are given beside, since seconds depend on what else the machine did.",
        is_numeric,
        verdict(held),
    )


def stage_ratios(cells: Cells, one: str, other: str, figure: str) -> list[float]:
    """Mean of ``figure`` over the stages after the teacher, ``one`` / ``other``, for every draw that both have."""
    ratios = []
    for dataset, k in sorted({cell[:2] for cell in cells}):
        first, second = (cells.get((dataset, k, recipe)) for recipe in (one, other))
        if first is None or second is None:
            continue
        x, y = ({row["draw"]: _a_stage(row, figure) for row in runs.rows} for runs in (first, second))
        ratios += [_ratio(x, y, draw) for draw in sorted(x.keys() & y.keys())]
    return [ratio for ratio in ratios if math.isfinite(ratio) and ratio > 0]


def _ratio(x: Mapping[int, float], y: Mapping[int, float], draw: int) -> float:
    return x[draw] / y[draw] if y[draw] else math.nan


def _a_stage(row: Row, figure: str) -> float:
    """NaN where no stage was trained."""
    stages = json.loads(row.get("stage_rows") or "[]")[1:]
    values = [stage[figure] for stage in stages if stage.get(figure)]
    return sum(values) / len(values) if values else math.nan


def _times(logs: Difference) -> str:
    """``2.10 times (95 %: 1.90 to 2.40; 12 pairs)``, from the mean logarithm of the ratios."""
    if logs.pairs == 1:
        return f"{math.exp(logs.mean):.2f} times (1 pair)"
    low, high = math.exp(logs.low), math.exp(logs.high)
    return f"{math.exp(logs.mean):.2f} times (95 %: {low:.2f} to {high:.2f}; {logs.pairs} pairs)"
