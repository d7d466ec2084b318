"""The reproduction of the paper's claims, and its page."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.errors import SettingError
from drgst.graph.core import make_graph
from drgst.lab.effect import Claim, measure
from drgst.lab.figures.registry import FIGURES
from drgst.lab.grid.executors import Inline
from drgst.lab.grid.grid import Grid
from drgst.lab.grid.run_grid import BenchResult, run_grid
from drgst.lab.reproduction import FULL, QUICK, Reproduction, Scale, page, reproduce
from drgst.lab.store import Store
from drgst.lab.tables.layout import Column, Entry, ResultTable

DECIDED = {"held", "refuted", "too small to tell"}


def run_inline(grid: Grid, store: Store) -> BenchResult:
    return run_grid(grid, store, Inline())


def test_data_sets_that_can_not_be_opened_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="none of the data sets can be opened"):
        reproduce(replace(QUICK, datasets=("nowhere.npz",)), tmp_path, tmp_path / "runs.db", run_inline)


def test_a_data_set_without_its_features_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CoraFull can be opened with edges and labels alone, which is not the graph of the paper."""
    bare = make_graph(None, sp.csr_array((4, 4)), np.array([0, 1, 0, 1]), name="corafull")
    monkeypatch.setattr("drgst.lab.reproduction.open_graph", lambda _: bare)
    with pytest.raises(SettingError, match="corafull was left out: without its features"):
        reproduce(replace(QUICK, datasets=("corafull",)), tmp_path, tmp_path / "runs.db", run_inline)


def test_an_export_takes_no_runs(small: Scale, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"runs\.csv is an export and takes no runs: add --no-run"):
        reproduce(small, tmp_path, tmp_path / "runs.csv", run_inline)


@pytest.mark.slow
def test_all_of_it_in_small_twice(small: Scale, tmp_path: Path) -> None:
    out, store = tmp_path / "out", tmp_path / "out" / "runs.db"
    made = reproduce(small, out, store, run_inline)
    assert made.failed == 0
    assert made.notes == []
    assert list(made.pictures) == list(FIGURES)
    assert len(made.claims) == 9
    verdicts = {claim.title: claim.verdict for claim in made.claims}
    assert verdicts.pop("Self-training improves a GCN") == "not run"  # not in the quick scale
    assert set(verdicts.values()) <= DECIDED
    for table in ("main", "ablation", "calibration", "time", "datasets"):
        assert all((out / "tables" / f"{table}.{ending}").is_file() for ending in ("md", "csv", "tex"))
    page = made.page.read_text(encoding="utf-8")
    assert page.count("data:image/png") == len(FIGURES)
    written = json.loads((out / "claims.json").read_text(encoding="utf-8"))
    assert [c["verdict"] for c in written] == [claim.verdict for claim in made.claims]

    def fail(grid: Grid, opened: Store) -> BenchResult:
        return run_grid(grid, opened, Inline(work=lambda task: pytest.fail(f"{task} was run again")))

    again = reproduce(small, out, store, fail)
    shown = reproduce(small, tmp_path / "shown", out / "runs.csv")  # from the export alone
    for other in (again, shown):
        assert other.runs == made.runs
        assert [c.verdict for c in other.claims] == [c.verdict for c in made.claims]


@pytest.mark.slow
def test_a_store_without_runs_is_shown_as_it_is(small: Scale, tmp_path: Path) -> None:
    made = reproduce(small, tmp_path / "out", tmp_path / "out" / "runs.db")
    assert made.runs == 0
    assert list(made.pictures) == [n for n, spec in FIGURES.items() if not spec.from_store]
    assert sum("was not drawn" in note for note in made.notes) == 5
    assert {claim.verdict for claim in made.claims[2:]} == {"not run"}


def test_the_full_scale_covers_the_paper() -> None:
    grids = [grid for found in FULL.grids().values() for grid in found]
    recipes = {recipe for grid in grids for recipe in grid.recipes}
    assert {"gcn", "gat", "appnp", "sts", "m3s", "abn", "drgst-do", "drgst-de-wo"} <= recipes
    assert {grid.changes["threshold"] for grid in grids if "threshold" in grid.changes} >= {0.4, 0.7}
    assert grids[0].draws == 10
    assert all(grid.per_class == (3, 5, 10, 20) for grid in grids)


HOSTILE = "<script>alert(1)</script>"


def test_nothing_on_the_page_is_markup_and_nothing_is_fetched() -> None:
    claims = [
        Claim(HOSTILE, HOSTILE, HOSTILE, measure(HOSTILE, [-0.02, -0.021, -0.022]), [HOSTILE]),
        Claim("without runs", "", "", []),
    ]
    table = ResultTable(HOSTILE, [Column(HOSTILE)], [[Entry(HOSTILE, 1)]], 0, [HOSTILE])
    text = page(Reproduction(Path("x"), claims, {"t": table}, {"toy": b"png"}, 5, 0, [HOSTILE]), "quick", [HOSTILE])
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 9
    assert "default-src 'none'" in text
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", text)
    assert "0 of 2 claims held" in text
    assert '<span class="mark bad">refuted</span>' in text
    assert '<span class="mark none">not run</span>' in text
