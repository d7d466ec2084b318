"""A reproduction in small: everything is run, shown, and found again."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drgst.bench.bench import Watcher
from drgst.bench.executors import Inline
from drgst.errors import SettingError
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.io.npz import save_graph
from drgst.report.claims.base import Claim
from drgst.report.figures.registry import FIGURES
from drgst.report.figures.request import Sizes
from drgst.report.reproduction.page import Picture, render
from drgst.report.reproduction.run import Reproduction, reproduce
from drgst.report.reproduction.scale import FULL, QUICK, Scale
from drgst.report.table import Column, Entry, Table

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def small(tmp_path: Path) -> Scale:
    """The quick scale on a graph of 120 nodes, with trainings of 4 epochs and a small toy."""
    path = tmp_path / "tiny.npz"
    save_graph(block_model(120, 400, seed=0, classes=3, features=40, words=6).with_(name="tiny"), path)
    changes = {"epochs": 4, "fixed_epochs": 40, "samples": 3, "stages": 1, "threshold": 0.2}
    return replace(
        QUICK,
        datasets=(str(path),),
        per_class=(3, 5),
        draws=2,
        networks=1,
        changes=changes,
        toy=Sizes(60, 200, 100, 200, rounds=1, picks=30),
    )


def carried_out(scale: Scale, out: Path, **more: Any) -> Reproduction:
    return reproduce(scale, out, out / "runs.db", Inline(), lambda _: nullcontext(Watcher()), **more)


def test_the_full_scale_covers_the_paper() -> None:
    grids = [grid for found in FULL.grids().values() for grid in found]
    recipes = {recipe for grid in grids for recipe in grid.recipes}
    assert {"gcn", "gat", "appnp", "sts", "m3s", "abn", "drgst-do", "drgst-de-wo"} <= recipes
    assert {grid.changes["threshold"] for grid in grids if "threshold" in grid.changes} >= {0.4, 0.7}
    assert grids[0].draws == 10
    assert grids[0].per_class == (3, 5, 10, 20)


def test_data_that_can_not_be_opened_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="none of the data sets can be opened"):
        carried_out(replace(QUICK, datasets=("nowhere.npz",)), tmp_path)


def test_nothing_on_the_page_is_markup_and_nothing_is_fetched() -> None:
    claim = Claim(HOSTILE, HOSTILE, HOSTILE, [HOSTILE], "not confirmed")
    table = Table(HOSTILE, [Column(HOSTILE)], [[Entry(HOSTILE, True)]], 0, [HOSTILE])
    page = render(QUICK, [claim], {"t": table}, [Picture(HOSTILE, HOSTILE, b"png")], 5, [HOSTILE])
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 9
    assert "default-src 'none'" in page
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", page)
    assert "0 of 1 claims held" in page
    assert "not confirmed" in page


@pytest.mark.slow
def test_all_of_it_in_small_twice(small: Scale, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = carried_out(small, out)
    assert made.failed == 0
    assert made.notes == []
    assert [picture.name for picture in made.pictures] == list(FIGURES)
    assert len(made.claims) == 7
    assert {claim.verdict for claim in made.claims} <= {"held", "not confirmed"}
    for table in ("main", "ablation", "calibration", "time", "datasets"):
        assert all((out / "tables" / f"{table}.{ending}").is_file() for ending in ("md", "csv", "tex"))
    page = made.page.read_text(encoding="utf-8")
    assert page.count("data:image/png") == len(FIGURES)
    assert [c["verdict"] for c in json.loads((out / "claims.json").read_text(encoding="utf-8"))] == [
        claim.verdict for claim in made.claims
    ]

    idle = Inline(work=lambda task: pytest.fail(f"{task} was run again"))
    again = reproduce(small, out, out / "runs.db", idle, lambda _: nullcontext(Watcher()))
    assert again.runs == made.runs
    assert [c.verdict for c in again.claims if "time" not in c.title] == [
        c.verdict for c in made.claims if "time" not in c.title
    ]


@pytest.mark.slow
def test_a_store_without_runs_is_shown_as_it_is(small: Scale, tmp_path: Path) -> None:
    made = carried_out(small, tmp_path / "out", run=False)
    assert made.runs == 0
    assert [picture.name for picture in made.pictures] == [n for n, spec in FIGURES.items() if not spec.of_store]
    assert sum("was not drawn" in note for note in made.notes) == 5
    assert {claim.verdict for claim in made.claims[2:]} == {"not is_numeric"}
