"""``drgst bench``, ``table`` and ``tune``: what people see, what programs read, how bad input ends."""

from __future__ import annotations

import csv
import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drgst.bench.store import Store
from drgst.cli import main
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.io.npz import save_graph

DRGST = Path(sys.executable).parent / "drgst"
SET = ("--set", "epochs=5,samples=3", "--set", "threshold=0.2")


@pytest.fixture(autouse=True)
def quiet(fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No data folder, a working folder of its own, and the log as it was afterwards."""
    monkeypatch.chdir(tmp_path)
    logger = logging.getLogger("drgst")
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "tiny.npz"
    save_graph(block_model(150, 500, seed=0, classes=3, features=40, words=6).with_(name="tiny"), path)
    return path


def call(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    code = 0
    try:
        main(list(args))
    except SystemExit as end:
        code = int(end.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def test_bench_export_and_table(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = ("--datasets", str(tiny), "--per-class", "3,5", "--recipes", "gcn,drgst-de", "--draws", "2", "--jobs", "1")
    code, out, err = call(capsys, "bench", *grid, *SET, "--store", "runs.db", "--json")
    assert code == 0, err
    told = json.loads(out.splitlines()[-1])
    assert set(told) == {"cells", "ran", "reused", "failed", "seconds"}
    assert (told["ran"], told["reused"], told["failed"]) == (8, 0, 0)
    assert [(c["per_class"], c["recipe"], c["draws"]) for c in told["cells"]] == [
        (3, "drgst-de", 2),
        (3, "gcn", 2),
        (5, "drgst-de", 2),
        (5, "gcn", 2),
    ]
    assert all(0 <= c["mean"] <= 1 and c["std"] >= 0 and c["dataset"] == "tiny" for c in told["cells"])
    assert "8 in 4 cells to run" in err
    assert "cells" in err

    code, out, _ = call(capsys, "bench", *grid, *SET, "--store", "runs.db", "--json")
    again = json.loads(out.splitlines()[-1])
    assert code == 0
    assert (again["ran"], again["reused"]) == (0, 8)
    assert again["cells"] == told["cells"]

    assert call(capsys, "bench", "export", "--store", "runs.db", "--csv", "r.csv", "--parquet", "r.parquet")[0] == 0
    with (tmp_path / "r.csv").open(encoding="utf-8") as handle:
        assert len(list(csv.DictReader(handle))) == 8
    variant = ("--variant", "epochs=5,samples=3,threshold=0.2")
    for source in ("runs.db", "r.csv", "r.parquet"):
        code, out, err = call(capsys, "table", "ablation", "--store", source, *variant, "--format", "md")
        assert code == 0, err
        assert "| tiny | 3 | drgst-de |" in out
    code, out, _ = call(capsys, "table", "time", "--store", "runs.db", "--variant", "validation", "--out", "t.txt")
    assert "drgst-de" in (tmp_path / "t.txt").read_text(encoding="utf-8")
    code, out, _ = call(capsys, "bench", "rescue", "r.csv", "--store", "new.db")
    assert code == 0
    with Store("new.db") as store, Store("runs.db") as old:
        assert store.all_rows() == old.all_rows()


def test_a_failed_cell_ends_with_code_1_and_a_summary(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Calibration needs validation nodes, so cagcn-st fails without any; gcn goes on."""
    grid = ("--datasets", str(tiny), "--per-class", "3", "--recipes", "cagcn-st,gcn", "--draws", "1", "--jobs", "1")
    code, out, err = call(capsys, "bench", *grid, "--validation", "none", "--set", "epochs=5", "--json")
    assert code == 1
    told = json.loads(out.splitlines()[-1])
    assert (told["ran"], told["failed"]) == (2, 1)
    assert [c["recipe"] for c in told["cells"]] == ["gcn"]
    assert "failed: tiny 3 cagcn-st draw 0: SettingError" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bench", "--recipes", "drgst-dee", "--draws", "1"), "did you mean 'drgst-de'?"),
        (("bench", "--datasets", "citeser", "--draws", "1"), "did you mean 'citeseer'?"),
        (("bench", "--datasets", ",", "--draws", "1"), "the grid is empty"),
        (("bench", "--draws", "0"), "the grid is empty"),
        (("bench", "--per-class", "three"), "whole numbers"),
        (("bench", "--per-class", "40", "--recipes", "gcn", "--draws", "1"), "allows 1 to 20 labels per class"),
        (("bench", "--engine", "rya"), "unknown engine 'rya'"),
        (("bench", "--set", "treshold=1"), "did you mean 'threshold'?"),
        (("bench", "--preset", "none.toml"), "can't read none.toml"),
        (("bench", "--store", "/proc/runs.db", "--draws", "1"), "can't write the store"),
        (("bench", "export", "--csv", "x.csv", "--store", "none.db"), "there is no store none.db"),
        (("bench", "export"), "say where to"),
        (("table", "mian"), "did you mean 'main'?"),
        (("table", "main", "--format", "word"), "unknown format 'word'"),
        (("table", "main", "--store", "none.db"), "there is no store none.db"),
        (("tune", "cora", "--recipe", "gcn", "--draws", "1"), "take --space wide"),
        (("tune", "cora", "--space", "papr", "--draws", "1"), "did you mean 'paper'?"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, *words)
    assert code == 2
    assert err.count("\n") == 1
    assert message in err


def test_a_finished_grid_of_a_thousand_runs_is_recognised_without_torch(
    tiny: Path, tmp_path: Path, make_row: Callable[..., dict[str, Any]]
) -> None:
    from drgst.bench.expand import Expander
    from drgst.bench.grid import Grid
    from drgst.bench.key_cache import KeyCache

    recipes = "gcn,gat,appnp,drgst-do,drgst-de"
    grid = Grid([str(tiny)], [1, 2, 3, 4], recipes.split(","), 50)
    expander = Expander(grid)
    with Store(tmp_path / "runs.db", create=True) as store, store.writing():
        for cell in grid.cells():
            tasks = expander.tasks(cell)
            KeyCache(store, grid).keep(cell, [task.key for task in tasks])
            for task in tasks:
                store.add(make_row(task.key, per_class=cell.per_class, recipe=cell.recipe, draw=task.draw))
    words = ["bench", "--datasets", str(tiny), "--per-class", "1,2,3,4", "--recipes", recipes, "--draws", "50"]
    code = (
        "import sys\nfrom drgst.cli import main\n"
        f"try:\n    main({[*words, '--json']!r})\nexcept SystemExit as end:\n    assert not end.code\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["ran"], told["reused"], len(told["cells"])) == (0, 1000, 20)


@pytest.mark.slow
def test_a_tuned_preset_runs_and_benches(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna", reason="tuning needs Optuna: pip install 'drgst[tune]'")
    fixed = ("--set", "epochs=5,samples=3")
    asked = ("--recipe", "drgst-de", "--per-class", "3", "--trials", "3", "--draws", "2", "--jobs", "1")
    code, out, err = call(capsys, "tune", str(tiny), *asked, *fixed, "--out", "p.toml", "--json")
    assert code == 0, err
    told = json.loads(out.splitlines()[-1])
    assert told["trials"] == 3
    assert told["val_accuracy"] >= told["first_val_accuracy"]
    assert call(capsys, "run", "--config", "p.toml", "--out", "run")[0] == 0
    grid = ("--datasets", str(tiny), "--per-class", "3", "--recipes", "drgst-de,gcn", "--draws", "1", "--jobs", "1")
    code, out, err = call(capsys, "bench", *grid, "--preset", "p.toml", *fixed, "--json")
    assert code == 0, err
    with Store("runs.db") as store:
        rows = {row["recipe"]: json.loads(row["settings"]) for row in store.all_rows()}
    for name in ("threshold", "beta", "drop_rate"):
        assert rows["drgst-de"][name] == pytest.approx(told["settings"][name])
    assert rows["gcn"]["threshold"] == 0.6
