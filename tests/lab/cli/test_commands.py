"""``drgst lab table``, ``figure``, ``tune`` and ``label-curve``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.lab.figures.registry import FIGURES
from drgst.lab.store import Store

Call = Callable[..., tuple[int, str, str]]


def test_a_table_goes_to_standard_output(ok: Any, filled: Path) -> None:
    out, _ = ok("lab", "table", "time", "--store", filled, "--variant", "validation")
    assert "gcn" in out


def test_data_sets_that_cannot_be_opened_are_left_empty(ok: Any, filled: Path) -> None:
    out, _ = ok("lab", "table", "datasets", "--store", filled, "--format", "csv")
    assert "2,708" in out or "2708" in out


def test_list_names_every_figure(ok: Any) -> None:
    out, _ = ok("lab", "figure", "list")
    assert [line.split()[0] for line in out.splitlines()] == list(FIGURES)


def test_a_store_and_its_export(ok: Any, filled: Path, tmp_path: Path) -> None:
    ok("lab", "bench", "export", "r.csv", "--store", filled)
    ok("lab", "figure", "labels", "--store", "r.csv")
    assert (tmp_path / "figures" / "labels.png").is_file()
    out, _ = ok("lab", "figure", "labels", "--store", filled, "--out", "pics/a.svg")
    assert out == "pics/a.svg\n"
    assert (tmp_path / "pics" / "a.svg").stat().st_size > 1000


@pytest.mark.slow
def test_a_tuned_preset_runs_and_benches(ok: Any, tiny: Path) -> None:
    pytest.importorskip("optuna", reason="tuning needs Optuna: pip install 'drgst[lab]'")
    fixed = ("--set", "epochs=5,samples=3")
    search = ("--recipe", "drgst-de", "--per-class", "3", "--trials", "3", "--draws", "2", "--jobs", "1")
    out, _ = ok("lab", "tune", tiny, *search, *fixed, "--out", "p.toml")
    assert "3 trials" in out
    tuned = tomllib.loads(Path("p.toml").read_text(encoding="utf-8"))
    ok("run", "--config", "p.toml", "--out", "run")
    grid = ("--datasets", tiny, "--per-class", "3", "--recipes", "drgst-de,gcn", "--draws", "1", "--jobs", "1")
    out, _ = ok("lab", "bench", *grid, "--preset", "p.toml", *fixed, "--json")
    with Store("runs.db") as store:
        rows = {row["recipe"]: json.loads(row["settings"]) for row in store.all_rows()}
    for name in ("threshold", "beta", "drop_rate"):
        assert rows["drgst-de"][name] == pytest.approx(tuned["settings"][name])
    assert "threshold" not in rows["gcn"]


def test_curves(tiny: Path, ok: Any) -> None:
    """A table, a figure, a line of JSON; a second call reuses all."""
    by = ("--start", 2, "--budget", 2, "--batch", 2, "--by", "margin,random", "--draws", 1, "--jobs", 1)
    out, _ = ok("lab", "label-curve", tiny, *by, "--figure", "c.png", "--json")
    assert [row["by"] for row in json.loads(out.splitlines()[-1])["choosers"]] == ["margin", "random"]
    assert Path("c.png").stat().st_size > 0
    out, _ = ok("lab", "label-curve", tiny, *by)
    assert "margin" in out
    assert "ran 0, reused 2" in out


def test_list_and_refusals(tiny: Path, ok: Any, refused: Any) -> None:
    assert "k-center" in ok("lab", "label-curve", tiny, "--by", "list")[0]
    assert "entropy" in refused("lab", "label-curve", tiny, "--by", "entropi")
    refused("lab", "label-curve", tiny, "--figure", "c.docx", "--jobs", 1)
