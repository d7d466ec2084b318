"""Claims on runs, made so that the verdict is known."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drgst.lab.claims import (
    BASELINES,
    ablation_order,
    best_method,
    fewer_labels,
    lower_beta,
    lower_threshold,
    mean_slopes,
    self_training_helps,
    stage_ratios,
    twice_the_time,
)
from drgst.lab.figures.sweep import Line
from drgst.lab.paper import DRGST, ablations
from drgst.lab.store.cells import RunFilter, Runs, runs_by_cell

Cells = Callable[..., Any]
BASE = [0.60, 0.65, 0.71]


@pytest.mark.parametrize(("margin", "expected"), [(0.05, "held"), (-0.05, "refuted"), (0.0, "too small to tell")])
def test_best_method(cells: Cells, margin: float, expected: str) -> None:
    """DR-GST beats five baselines; the sixth, ABN, decides."""
    noise = (0.0, 0.01, -0.01)
    found = {("cora", 3, recipe): [v - 0.1 for v in BASE] for recipe in BASELINES}
    found |= {("cora", 3, recipe): [v + n for v, n in zip(BASE, noise, strict=True)] for recipe in DRGST}
    found["cora", 3, "abn"] = [v - margin for v in BASE]
    claim = best_method(cells(found))
    assert claim.verdict == expected
    assert len(claim.effects) == 24  # in two readings
    assert {e.verdict for e in claim.effects if "abn" not in e.name} == {"held"}


def test_cells_without_a_student_are_left_out_of_one_reading(cells: Cells) -> None:
    """In the cell without a student DR-GST is the GCN, and behind; where it trains one, it is ahead of all."""
    found = {("cora", 3, recipe): [v - 0.05 - d / 1000 for d, v in enumerate(BASE)] for recipe in BASELINES}
    found |= {("pubmed", 3, recipe): [v + 0.2 - d / 1000 for d, v in enumerate(BASE)] for recipe in BASELINES}
    found |= {(dataset, 3, recipe): BASE for dataset in ("cora", "pubmed") for recipe in DRGST}
    made = cells(found)
    for recipe in DRGST:
        made["pubmed", 3, recipe] = Runs(tuple({**row, "stages": 0} for row in made["pubmed", 3, recipe].rows))
    claim = best_method(made)
    found = {(e.reading, e.cells, e.verdict) for e in claim.effects}
    assert found == {("all cells", 2, "refuted"), ("cells with a student", 1, "held")}
    assert claim.verdict == "too small to tell"


def test_a_margin_that_one_data_set_makes_is_said(cells: Cells) -> None:
    found = {(dataset, 3, "gat"): BASE for dataset in ("cora", "flickr")}
    for recipe in DRGST:
        found["cora", 3, recipe] = [v + 0.001 for v in BASE]
        found["flickr", 3, recipe] = [v + 0.2 for v in BASE]
    said = "drgst-do over gat, all cells, comes mostly from flickr: +20.0 points there, +0.1 on the others."
    assert said in best_method(cells(found)).remarks


def test_self_training_helps(cells: Cells) -> None:
    found = {("cora", 3, recipe): [v + 0.02 + d / 1000 for d, v in enumerate(BASE)] for recipe in ("sts", "m3s", "abn")}
    found["cora", 3, "gcn"] = BASE
    claim = self_training_helps(cells(found))
    assert claim.verdict == "held"
    assert [e.name for e in claim.effects] == ["sts over gcn", "m3s over gcn", "abn over gcn"]
    found["cora", 3, "m3s"] = [v - 0.1 for v in BASE]
    assert self_training_helps(cells(found)).verdict == "refuted"


def test_ablation_order(cells: Cells) -> None:
    falling = {
        ("cora", 3, recipe): [v - 0.01 * place - 0.001 * draw for draw, v in enumerate(BASE)]
        for whole in DRGST
        for place, recipe in enumerate(ablations(whole))
    }
    claim = ablation_order(cells(falling))
    assert claim.verdict == "held"
    assert "The means are in the claimed order in 1 of 1 cells of drgst-de." in claim.remarks
    swapped = {**falling, ("cora", 3, "drgst-de-ig"): [0.5, 0.55, 0.6]}
    claim = ablation_order(cells(swapped))
    assert claim.verdict == "refuted"
    assert {e.name for e in claim.effects if e.verdict == "refuted"} == {"drgst-de-ig over drgst-de-lc"}
    assert ablation_order({}).verdict == "not run"


def test_ablations_without_a_student_do_not_count(cells: Cells) -> None:
    """Where the published settings train no student all four are the teacher."""
    made = cells({("pubmed", 3, recipe): BASE for whole in DRGST for recipe in ablations(whole)})
    teachers = {cell: Runs(tuple({**row, "stages": 0} for row in runs.rows)) for cell, runs in made.items()}
    assert ablation_order(made).verdict == "too small to tell"
    assert ablation_order(teachers).verdict == "not run"


def test_fewer_labels(cells: Cells) -> None:
    def made(few: float, many: float) -> Any:
        found = {("cora", 3, "gcn"): [0.6, 0.62], ("cora", 20, "gcn"): [0.8, 0.8]}
        for recipe in DRGST:
            found["cora", 3, recipe] = [0.6 + few, 0.62 + few]
            found["cora", 20, recipe] = [0.8 + many, 0.8 + many]
        return fewer_labels(cells(found))

    assert made(0.05, 0.01).verdict == "held"
    assert "drgst-do over gcn on cora, by labels per class: +5.0 at 3, +1.0 at 20" in made(0.05, 0.01).remarks[0]
    assert made(0.01, 0.05).verdict == "refuted"
    assert fewer_labels(cells({("cora", 3, "drgst-do"): [0.5]})).verdict == "not run"


FALLING = Line("drgst-de", 3, {0.4: {0: 0.8, 1: 0.7, 2: 0.9}, 0.7: {0: 0.77, 1: 0.66, 2: 0.865}})
RISING = Line("drgst-do", 3, {0.4: {0: 0.7, 1: 0.7, 2: 0.7}, 0.7: {0: 0.8, 1: 0.81, 2: 0.82}})


def test_a_falling_line_holds_and_a_rising_one_refutes() -> None:
    claim = lower_threshold([FALLING], "cora")
    assert claim.verdict == "held"
    assert str(claim.effects[0]).startswith("0.1 more of τ on cora: -1.17 points")
    assert claim.remarks == ["drgst-de, 3 labels per class: 80.0 at 0.4, 76.5 at 0.7; best at 0.4."]
    assert lower_beta([RISING], "cora").verdict == "refuted"
    assert lower_beta([], "cora").verdict == "not run"


def test_lines_of_one_draw_count_as_one_value() -> None:
    (cell,) = mean_slopes([FALLING, RISING])
    assert len(cell.values) == 3
    assert cell.values[0] == pytest.approx(0.1 * (-0.03 + 0.1) / 0.3 / 2)


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
    (cell,) = stage_ratios(found, "drgst-do", "drgst-do-wo", "seconds")
    assert np.exp(list(cell.values.values())) == pytest.approx([factor, 1.01 * factor, 1.02 * factor])
    claim = twice_the_time(found)
    assert claim.verdict == expected
    assert claim.remarks == [
        "Epochs per stage, drgst-do to drgst-do-wo: 1.00 times (95 %: 1.00 to 1.00; 1 cell, 1 split)."
    ]


def test_runs_without_stages_are_not_counted(make_row: Row) -> None:
    bare = runs_by_cell([make_row("a", recipe="drgst-do"), make_row("b", recipe="drgst-do-wo")], RunFilter())
    assert twice_the_time(bare).verdict == "not run"
