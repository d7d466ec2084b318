"""The claim on time: DR-GST takes about twice as long as plain self-training."""

from __future__ import annotations

import json
import math

from drgst.lab.claims.effect import Claim, Effect, measure
from drgst.lab.experiments import DRGST
from drgst.lab.statistics.results import Row
from drgst.lab.tables.accuracy import Cells

LOW, HIGH = 1.5, 2.5  # "approximately twice"


def twice(cells: Cells) -> Claim:
    """A stage of DR-GST against a stage of thresholded self-training with the same settings."""
    return Claim(
        "About twice the time of plain self-training",
        "The time complexity of DR-GST is approximately twice that of the general self-training framework (Appendix).",
        "Ratio of the seconds of a stage to those of thresholded self-training with the same threshold, geometric mean "
        f"over draws: the 95 % interval (Student's t) lies between {LOW:g} and {HIGH:g}. The ratio of epochs is given "
        "beside it, since seconds depend on the load of the machine.",
        [e for recipe in DRGST for e in _ratio(cells, recipe, "seconds")],
        [f"{e.name}: {e.figures()}." for recipe in DRGST for e in _ratio(cells, recipe, "epochs")],
    )


def _ratio(cells: Cells, recipe: str, figure: str) -> list[Effect]:
    logs = [math.log(ratio) for ratio in stage_ratios(cells, recipe, f"{recipe}-wo", figure)]
    name = f"{figure.capitalize()} per stage, {recipe} to {recipe}-wo"
    return measure(name, logs, (math.log(LOW), math.log(HIGH)), "times")


def stage_ratios(cells: Cells, one: str, other: str, figure: str) -> list[float]:
    """Mean of ``figure`` over the stages after the teacher, ``one`` / ``other``, for each draw that both have."""
    ratios = []
    for place in sorted({cell[:2] for cell in cells}):
        if (*place, one) in cells and (*place, other) in cells:
            x, y = ({row["draw"]: _per_stage(row, figure) for row in cells[*place, r].rows} for r in (one, other))
            ratios += [x[draw] / y[draw] for draw in sorted(x.keys() & y.keys()) if y[draw]]
    return [ratio for ratio in ratios if math.isfinite(ratio) and ratio > 0]


def _per_stage(row: Row, figure: str) -> float:
    """Mean over the stages; NaN where no stage was trained."""
    stages = json.loads(row.get("stage_rows") or "[]")[1:]
    values = [stage[figure] for stage in stages if stage.get(figure)]
    return sum(values) / len(values) if values else math.nan
