"""Claims: each is held, or not, for figures made so that the answer is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from drgst.bench.correlation import Correlation
from drgst.bench.results import Wanted, choose
from drgst.report.claims import ablation, margin, relations, sweeps, time
from drgst.report.claims.base import Difference, direction, paired, verdict
from drgst.report.experiments import family
from drgst.report.figures.sweep import Line
from drgst.report.figures.toy_run import Toy

Row = Callable[..., dict[str, Any]]


@pytest.fixture
def cells(make_row: Row) -> Callable[..., Any]:
    """``cells({("cora", 3, "gcn"): [0.6, 0.7], …})``: accuracies draw by draw."""

    def make(found: dict[tuple[str, int, str], list[float]], **more: Any) -> Any:
        rows = [
            make_row(
                f"{cell}{draw}", dataset=cell[0], per_class=cell[1], recipe=cell[2], draw=draw, test_accuracy=value
            )
            for cell, values in found.items()
            for draw, value in enumerate(values)
        ]
        return choose(rows, Wanted())

    return make


def test_the_rule() -> None:
    assert verdict([True, True]) == "held"
    assert verdict([True, False]) == "not confirmed"
    assert verdict([]) == "not is_numeric"
    assert direction(0.1, 0.2) == "as claimed"
    assert direction(-0.2, -0.1) == "the opposite was is_numeric"
    assert direction(-0.1, 0.2) == "can't be told from chance"
    assert direction(-0.2, -0.1, wanted=-1) == "as claimed"


def test_three_draws_that_agree_in_sign_are_not_enough() -> None:
    few = Difference.of([0.01, 0.02, 0.03])
    assert few is not None
    assert few.mean == pytest.approx(0.02)
    assert few.low < 0 < few.high  # 0.02 ± 4.303 · 0.01 / √3
    assert few.low == pytest.approx(0.02 - 4.302653 * 0.01 / 3**0.5)
    assert str(few) == "+2.00 points (95 %: -0.48 to +4.48; 3 pairs)"
    one = Difference.of([0.01])
    assert one is not None
    assert direction(one.low, one.high) == "can't be told from chance"
    assert str(one) == "+1.00 points (1 pair)"
    assert Difference.of([]) is None


def test_pairs_are_of_the_same_draw_and_cell(cells: Callable[..., Any]) -> None:
    found = paired(
        cells(
            {
                ("cora", 3, "a"): [0.5, 0.6, 0.9],
                ("cora", 3, "b"): [0.4, 0.5],
                ("cora", 5, "a"): [0.8],
                ("flickr", 3, "a"): [0.2],
                ("flickr", 3, "b"): [0.4],
            }
        ),
        "a",
        "b",
    )
    assert found is not None
    assert found.pairs == 3
    assert found.mean == pytest.approx(0)
    assert paired({}, "a", "b") is None


def test_confidence() -> None:
    below, across = Correlation(-0.5, -0.6, -0.4, 99), Correlation(-0.1, -0.3, 0.1, 99)
    held = relations.confidence({"dropout": [below, below]}, "GCN on cora")
    assert held.verdict == "held"
    assert "ρ = -0.50 (-0.60 to -0.40)" in held.is_numeric[0]
    broken = relations.confidence({"dropout": [below], "dropedge": [across]}, "GCN on cora")
    assert broken.verdict == "not confirmed"
    assert "0 of 1 intervals" in broken.is_numeric[1]
    assert relations.confidence({}, "").verdict == "not is_numeric"


@pytest.mark.parametrize(("sign", "expected"), [(1, "held"), (-1, "not confirmed")])
def test_the_toy(sign: int, expected: str) -> None:
    """Picks near the centre; gain grows with the distance (or falls, and then the claim does not hold)."""
    rng = np.random.default_rng(0)
    picked = 0.15 * rng.standard_normal((300, 2))
    gain = sign * np.linalg.norm(picked, axis=1)
    labelled = 0.3 * rng.standard_normal((100, 2))
    found = Toy(labelled, picked, np.empty((0, 2)), np.empty((0, 2)), gain, np.ones(300), 1.0)
    assert relations.toy(found).verdict == expected
    bare = Toy(labelled, np.empty((0, 2)), *([np.empty((0, 2))] * 2), np.empty(0), np.empty(0), float("nan"))
    assert relations.toy(bare).verdict == "not is_numeric"


def test_the_order_of_the_ablation(cells: Callable[..., Any]) -> None:
    base = [0.60, 0.65, 0.71]
    falling = {
        ("cora", 3, recipe): [v - 0.01 * place - 0.001 * draw for draw, v in enumerate(base)]
        for whole in ("drgst-do", "drgst-de")
        for place, recipe in enumerate(family(whole))
    }
    claim = ablation.order(cells(falling))
    assert claim.verdict == "held"
    assert any("in 1 of 1 cells of drgst-de" in words for words in claim.is_numeric)
    swapped = {**falling, ("cora", 3, "drgst-de-ig"): [0.5, 0.55, 0.6]}
    claim = ablation.order(cells(swapped))
    assert claim.verdict == "not confirmed"
    assert any("the opposite was is_numeric" in words for words in claim.is_numeric)
    assert ablation.order({}).verdict == "not is_numeric"


def test_the_margin_with_fewer_labels(cells: Callable[..., Any]) -> None:
    def made(few: float, many: float) -> Any:
        found = {("cora", 3, "gcn"): [0.6, 0.62], ("cora", 20, "gcn"): [0.8, 0.8]}
        for recipe in ("drgst-do", "drgst-de"):
            found["cora", 3, recipe] = [0.6 + few, 0.62 + few]
            found["cora", 20, recipe] = [0.8 + many, 0.8 + many]
        return margin.fewer_labels(cells(found))

    assert made(0.05, 0.01).verdict == "held"
    assert "cora 3: +5.0, 20: +1.0" in made(0.05, 0.01).is_numeric[0]
    assert made(0.01, 0.05).verdict == "not confirmed"
    assert margin.fewer_labels(cells({("cora", 3, "drgst-do"): [0.5]})).verdict == "not is_numeric"


def test_sweeps() -> None:
    falling = Line("drgst-de", 3, {0.4: {0: 0.8, 1: 0.7, 2: 0.9}, 0.7: {0: 0.77, 1: 0.66, 2: 0.865}})
    rising = Line("drgst-do", 3, {0.4: {0: 0.7, 1: 0.7, 2: 0.7}, 0.7: {0: 0.8, 1: 0.81, 2: 0.82}})
    claim = sweeps.threshold([falling], "cora")
    assert claim.verdict == "held"
    assert "best at τ = 0.4" in claim.is_numeric[1]
    assert "-1.17 points" in claim.is_numeric[0]
    assert sweeps.by_draw([falling, rising])[0] == pytest.approx((-0.03 + 0.1) / 0.3 / 2)  # lines of a draw are one
    against = sweeps.beta([rising], "cora")
    assert against.verdict == "not confirmed"
    assert "the opposite was is_numeric" in against.is_numeric[0]
    assert sweeps.beta([], "cora").verdict == "not is_numeric"


@pytest.mark.parametrize(("factor", "expected"), [(2.1, "held"), (4.0, "not confirmed")])
def test_time_is_of_a_stage_not_of_a_run(make_row: Row, factor: float, expected: str) -> None:
    """Stage 0, the teacher, counts for neither, and a run with more stages is not slower for it."""

    def stages(seconds: list[float]) -> str:
        return json.dumps([{"seconds": 100.0, "epochs": 100}, *({"seconds": s, "epochs": 10} for s in seconds)])

    rows = [make_row("a", recipe="drgst-do", stage_rows=stages([factor, factor, factor]))]
    rows += [make_row("b", recipe="drgst-do-wo", stage_rows=stages([1.0]))]
    found = choose(rows, Wanted())
    assert time.stage_ratios(found, "drgst-do", "drgst-do-wo", "seconds") == pytest.approx([factor])
    claim = time.twice(found)
    assert claim.verdict == expected
    assert "takes 1.00 times (1 pair) the epochs" in claim.is_numeric[1]
    bare = choose([make_row("a", recipe="drgst-do"), make_row("b", recipe="drgst-do-wo")], Wanted())
    assert time.twice(bare).verdict == "not is_numeric"
