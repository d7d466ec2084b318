"""Effects with their intervals, and the verdicts that follow from them."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.lab.claims import confidence_and_gain, decide_claims, gamma_and_gain, write_claims
from drgst.lab.effect import (
    ABOVE,
    BELOW,
    MOST,
    CellValues,
    Claim,
    Effect,
    decide,
    differences,
    draws_needed,
    measure,
    measure_cells,
)
from drgst.lab.figures.registry import Request
from drgst.lab.figures.toy import Toy
from drgst.lab.paper import DRGST, ablations
from drgst.lab.statistics import Correlation
from drgst.lab.store import Store
from drgst.lab.store.export import to_csv


def effect(verdict: Any, **more: Any) -> Effect:
    name = "e" if more else f"e {verdict}"
    return Effect(name, "points", 1.0, 0.5, 1.5, 9, "draws", verdict, **more)


def test_last_bits_that_differ_between_machines_are_not_written() -> None:
    """Sums of BLAS differ in the last bits, and ``claims.json`` is compared as a file."""
    documents = [Claim("t", "p", "r", [effect("held", elsewhere=(0.1, x))]).document() for x in (0.1 + 0.2, 0.3)]
    assert documents[0] == documents[1]
    assert documents[0]["effects"][0]["elsewhere"] == [0.1, 0.3]


def test_an_interval_decides_where_it_lies_on_one_side() -> None:
    assert decide(0.1, 0.2) == "held"
    assert decide(-0.2, -0.1) == "refuted"
    assert decide(-0.1, 0.2) == "too small to tell"
    assert decide(-0.2, -0.1, BELOW) == "held"
    assert decide(1.6, 2.4, (1.5, 2.5)) == "held"
    assert decide(2.4, 2.6, (1.5, 2.5)) == "too small to tell"
    assert decide(1.0, 1.4, (1.5, 2.5)) == "refuted"
    assert decide(2.6, 2.8, (1.5, 2.5)) == "refuted"


def test_a_claim_holds_if_every_part_does_and_is_refuted_if_one_is() -> None:
    def verdict(*found: Any) -> str:
        return Claim("t", "p", "r", [effect(v) for v in found]).verdict

    assert verdict() == "not run"
    assert verdict("held", "held") == "held"
    assert verdict("held", "too small to tell") == "too small to tell"
    assert verdict("held", "too small to tell", "refuted") == "refuted"


@pytest.mark.parametrize(("second", "expected"), [("refuted", "refuted"), ("held", "too small to tell")])
def test_a_part_is_decided_by_what_holds_in_every_reading(second: Any, expected: str) -> None:
    parts = [effect("refuted", reading="all cells"), effect(second, reading="some cells")]
    claim = Claim("t", "p", "r", parts)
    assert claim.verdict == expected
    assert Claim.of(json.loads(json.dumps(claim.document()))).table() == claim.table()
    (row,) = claim.table().rows  # the readings stand side by side
    assert [entry.text for entry in row].count("+1.00 points") == 2


def test_three_draws_that_agree_in_sign_are_too_few() -> None:
    (few,) = measure("a over b", [0.01, 0.02, 0.03])
    half = 4.302653 * 0.01 / 3**0.5  # t_2 s/√n
    assert (few.mean, few.low, few.high) == pytest.approx((2.0, 100 * (0.02 - half), 100 * (0.02 + half)))
    assert few.verdict == "too small to tell"
    assert few.needed == 5
    assert str(few) == (
        "a over b: +2.00 points (95 %: -0.48 to +4.48; 3 draws): too small to tell; about 5 draws would be needed."
    )


def test_a_single_draw_has_no_interval() -> None:
    (one,) = measure("a", [0.01])
    assert (one.verdict, one.needed) == ("too small to tell", None)
    assert one.figures() == "+1.00 points (1 draw)"
    assert measure("a", []) == []


def test_a_decided_effect_needs_no_more_draws() -> None:
    (found,) = measure("a", [0.02, 0.021, 0.022], ABOVE)
    assert (found.verdict, found.needed) == ("held", None)


def test_ratios_are_geometric_means() -> None:
    (found,) = measure("a", [math.log(1.0), math.log(4.0)], (math.log(1.5), math.log(2.5)), "times")
    assert found.mean == pytest.approx(2)
    assert found.verdict == "too small to tell"


@pytest.mark.parametrize(("distance", "deviation"), [(0.01, 0.01), (0.005, 0.01), (0.002, 0.02)])
def test_the_needed_draws_give_a_power_of_80_percent(distance: float, deviation: float) -> None:
    """Of 4,000 samples of that size about 80 % have an interval above 0, and fewer with three quarters of the draws."""
    n = draws_needed(distance, deviation)
    rng = np.random.default_rng(0)

    def power(size: int) -> float:
        x = rng.normal(distance, deviation, (4000, size))
        from scipy.stats import t

        low = x.mean(axis=1) - t.ppf(0.975, size - 1) * x.std(axis=1, ddof=1) / size**0.5
        return float((low > 0).mean())

    assert 0.78 < power(n) < 0.86
    assert power(3 * n // 4) < 0.77


def test_an_effect_near_zero_would_need_more_draws_than_are_counted() -> None:
    assert draws_needed(0.0, 0.01) == draws_needed(1e-9, 0.01) == MOST + 1
    assert "more than 10,000 draws would be needed" in str(effect("too small to tell", needed=MOST + 1))


def test_a_claim_as_json_has_no_infinite_bound() -> None:
    claim = Claim("t", "p", "r", measure("a", [0.01]), ["remark"])
    document = json.loads(json.dumps(claim.document(), allow_nan=False))
    assert document["verdict"] == "too small to tell"
    assert document["effects"][0] | {"mean": 1.0} == {
        "name": "a",
        "unit": "points",
        "mean": 1.0,
        "low": None,
        "high": None,
        "count": 1,
        "counted": "draws",
        "verdict": "too small to tell",
        "needed": None,
        "reading": "",
        "cells": None,
        "elsewhere": None,
    }


def test_differences_are_of_the_same_draw_and_cell(cells: Callable[..., Any]) -> None:
    found = cells(
        {
            ("cora", 3, "a"): [0.5, 0.6, 0.9],
            ("cora", 3, "b"): [0.4, 0.5],
            ("cora", 5, "a"): [0.8],
            ("flickr", 3, "a"): [0.2],
            ("flickr", 3, "b"): [0.4],
        }
    )
    cora, flickr = differences(found, "a", "b").values()
    assert (cora.dataset, cora.values) == ("cora", pytest.approx({0: 0.1, 1: 0.1}))
    assert flickr.values == pytest.approx({0: -0.2})
    assert differences({}, "a", "b") == {}


def drawn(rng: np.random.Generator, dataset: str, mean: float, draws: int = 10, **more: Any) -> CellValues:
    return CellValues(dataset, dict(enumerate(rng.normal(mean, 0.02, draws))), **more)


def test_one_cell_has_students_interval() -> None:
    cell = CellValues("cora", {0: 0.01, 1: 0.02, 2: 0.04})
    (found,), (simple,) = measure_cells("a", [cell]), measure("a", list(cell.values.values()))
    assert (found.mean, found.low, found.high) == pytest.approx((simple.mean, simple.low, simple.high))
    assert (found.needed, found.origin, found.elsewhere) == (simple.needed, "1 cell, 3 splits", None)


def test_cells_count_the_same_however_many_draws_they_have() -> None:
    cells = [CellValues("cora", dict.fromkeys(range(10), 0.04)), CellValues("flickr", {0: 0.0, 1: 0.0})]
    (found,) = measure_cells("a", cells)
    assert found.mean == pytest.approx(2.0)


def test_nested_draws_and_reseeds_are_not_counted_twice() -> None:
    """The cells of one data set repeat the same draws: ten splits, not thirty. Reseeds of one split are one more."""
    rng = np.random.default_rng(0)
    cell = drawn(rng, "cora", 0.01)
    (one,), (three,) = measure_cells("a", [cell]), measure_cells("a", [cell] * 3)
    assert (one.low, one.high) == pytest.approx((three.low, three.high))
    assert three.origin == "3 cells, 10 splits"
    (more,) = measure_cells("a", [cell, drawn(rng, "cora", 0.01, one_split=True)])
    assert more.origin == "2 cells, 11 splits"


def test_the_intervals_cover_what_they_say() -> None:
    """About 95 % of those for these cells cover their mean, and of those for another data set the mean of all."""
    rng, these, other = np.random.default_rng(1), [], []
    for _ in range(400):
        means = rng.normal(0.01, 0.05, 4)
        cells = [drawn(rng, f"d{k}", m, draws) for k, (m, draws) in enumerate(zip(means, (10, 10, 10, 5), strict=True))]
        (found,) = measure_cells("a", cells)
        these.append(found.low <= 100 * means.mean() <= found.high)
        other.append(found.elsewhere[0] <= 1.0 <= found.elsewhere[1])
    assert 0.92 <= np.mean(these) <= 0.98
    assert 0.92 <= np.mean(other) <= 0.98


def test_the_second_side_of_a_contrast_is_subtracted() -> None:
    many = CellValues("cora", {0: 0.01, 1: 0.012}, one_split=True, weight=-1.0)
    (found,) = measure_cells("a", [CellValues("cora", {0: 0.05, 1: 0.052}), many])
    assert found.mean == pytest.approx(4.0)
    assert found.verdict == "held"


def test_a_cell_of_one_draw_leaves_no_interval() -> None:
    (found,) = measure_cells("a", [CellValues("cora", {0: 0.1}), CellValues("flickr", {0: 0.1, 1: 0.2})])
    assert (found.verdict, found.high, found.needed) == ("too small to tell", math.inf, None)


def found(*rhos: float) -> list[Correlation]:
    return [Correlation(rho, rho - 0.1, rho + 0.1, 99) for rho in rhos]


def test_confidence_is_decided_over_networks() -> None:
    held = confidence_and_gain({"dropout": found(-0.5, -0.51, -0.52)}, "GCN on cora")
    assert held.verdict == "held"
    assert held.effects[0].counted == "networks"
    assert "ρ = -0.50 (-0.60 to -0.40)" in held.remarks[0]
    open_ = confidence_and_gain({"dropout": found(-0.5, -0.51), "dropedge": found(-0.5, 0.5)}, "GCN on cora")
    assert [e.verdict for e in open_.effects] == ["held", "too small to tell"]
    assert open_.verdict == "too small to tell"
    assert confidence_and_gain({}, "").verdict == "not run"


@pytest.mark.parametrize(("sign", "expected"), [(1, "held"), (-1, "refuted")])
def test_toy(sign: int, expected: str) -> None:
    """Pseudo-labels lie near the centre; gain grows with the distance, or falls and refutes the claim."""
    rng = np.random.default_rng(0)
    near = 0.15 * rng.standard_normal((300, 2))
    gain = sign * np.linalg.norm(near, axis=1)
    labelled, empty = 0.3 * rng.standard_normal((100, 2)), np.empty((0, 2))
    toys = [Toy(labelled, near[start:], empty, empty, gain[start:], 1.0) for start in (0, 20, 40)]
    claim = gamma_and_gain(toys)
    assert claim.verdict == expected
    assert [(effect.count, effect.counted) for effect in claim.effects] == [(3, "seeds")] * 3
    assert "280 nodes per toy were pseudo-labelled" in claim.remarks[0]
    assert {effect.verdict for effect in gamma_and_gain(toys[:1]).effects} == {"too small to tell"}
    without = gamma_and_gain([Toy(labelled, empty, empty, empty, np.empty(0), float("nan"))])
    assert without.verdict == "not run"
    assert "No node was pseudo-labelled" in without.remarks[0]


CHANGES = {"epochs": 4, "samples": 4}


def test_a_store_and_its_export_give_the_same_verdicts(
    tiny: Path, tmp_path: Path, make_row: Callable[..., dict[str, Any]]
) -> None:
    stages = json.dumps([{"seconds": 1.0, "epochs": 9}, {"seconds": 2.0, "epochs": 5}])
    with Store(tmp_path / "runs.db", create=True) as store:
        for place, recipe in enumerate(("gcn", *(r for whole in DRGST for r in ablations(whole)))):
            for draw in range(3):
                more = {"recipe": recipe, "draw": draw, "test_accuracy": 0.6 - place / 50 + draw / 1000 * (place + 1)}
                store.add(make_row(f"{recipe}{draw}", dataset="tiny", stage_rows=stages, **more))
        to_csv(store.all_rows(), tmp_path / "runs.csv")
        rows = store.all_rows()
    toy = Toy(*[np.zeros((0, 2))] * 4, np.zeros(0), float("nan"))
    verdicts = []
    for path in (tmp_path / "runs.db", tmp_path / "runs.csv"):
        request = Request(path, dataset=str(tiny), per_class=5, changes=CHANGES)
        found = request.rows if path.suffix == ".csv" else rows
        claims = decide_claims(found, request, networks=2, toys=1, first=toy)
        write_claims(claims, tmp_path / "claims.json")
        written = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
        verdicts.append({claim["title"]: claim["verdict"] for claim in written})
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) == 9
    assert verdicts[0]["Both parts help, information gain more"] == "held"
    assert verdicts[0]["DR-GST outperforms every baseline"] == "refuted"  # gcn is best in these rows
    assert verdicts[0]["A lower β is better"] == "not run"
