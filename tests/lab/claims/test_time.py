"""The claim on time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from drgst.lab.claims import time
from drgst.lab.statistics.results import RunFilter, runs_by_cell

Row = Callable[..., dict[str, Any]]


def stages(seconds: list[float]) -> str:
    return json.dumps([{"seconds": 100.0, "epochs": 100}, *({"seconds": s, "epochs": 10} for s in seconds)])


@pytest.mark.parametrize(("factor", "expected"), [(2.1, "held"), (4.0, "refuted"), (1.49, "too small to tell")])
def test_time_is_per_stage(make_row: Row, factor: float, expected: str) -> None:
    """Stage 0, the teacher, does not count, and a run with more stages is not slower for it."""
    rows = []
    for draw in range(3):
        seconds = factor * (1 + draw / 100)
        rows.append(make_row(f"a{draw}", recipe="drgst-do", draw=draw, stage_rows=stages([seconds] * 3)))
        rows.append(make_row(f"b{draw}", recipe="drgst-do-wo", draw=draw, stage_rows=stages([1.0])))
    found = runs_by_cell(rows, RunFilter())
    ratios = time.stage_ratios(found, "drgst-do", "drgst-do-wo", "seconds")
    assert ratios == pytest.approx([factor, 1.01 * factor, 1.02 * factor])
    claim = time.twice(found)
    assert claim.verdict == expected
    assert claim.remarks == ["Epochs per stage, drgst-do to drgst-do-wo: 1.00 times (95 %: 1.00 to 1.00, 3 draws)."]


def test_runs_without_stages_are_not_counted(make_row: Row) -> None:
    bare = runs_by_cell([make_row("a", recipe="drgst-do"), make_row("b", recipe="drgst-do-wo")], RunFilter())
    assert time.twice(bare).verdict == "not run"
