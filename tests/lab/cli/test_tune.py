"""``drgst lab tune``: a preset that runs, and how bad input ends."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from drgst.lab.store import Store

pytest.importorskip("optuna", reason="tuning needs Optuna: pip install 'drgst[tune]'")
Call = Callable[..., tuple[int, str, str]]


@pytest.mark.slow
def test_a_tuned_preset_runs_and_benches(tiny: Path, call: Call) -> None:
    fixed = ("--set", "epochs=5,samples=3")
    search = ("--recipe", "drgst-de", "--per-class", "3", "--trials", "3", "--draws", "2", "--jobs", "1")
    code, out, err = call("lab", "tune", tiny, *search, *fixed, "--out", "p.toml")
    assert code == 0, err
    assert "3 trials" in out
    tuned = tomllib.loads(Path("p.toml").read_text(encoding="utf-8"))
    assert call("run", "--config", "p.toml", "--out", "run")[0] == 0
    grid = ("--datasets", tiny, "--per-class", "3", "--recipes", "drgst-de,gcn", "--draws", "1", "--jobs", "1")
    code, out, err = call("lab", "bench", *grid, "--preset", "p.toml", *fixed, "--json")
    assert code == 0, err
    with Store("runs.db") as store:
        rows = {row["recipe"]: json.loads(row["settings"]) for row in store.all_rows()}
    for name in ("threshold", "beta", "drop_rate"):
        assert rows["drgst-de"][name] == pytest.approx(tuned["settings"][name])
    assert "threshold" not in rows["gcn"]
