"""``drgst figure`` and ``drgst reproduce``: what people see, what programs read, how bad input ends."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drgst.bench.store import Store
from drgst.cli import main
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.io.npz import save_graph
from drgst.report.figures.registry import FIGURES


@pytest.fixture(autouse=True)
def quiet(fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No data folder, a working folder of its own, and the log as it was afterwards."""
    monkeypatch.chdir(tmp_path)
    logger = logging.getLogger("drgst")
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers[:] = handlers


def call(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    code = 0
    try:
        main(list(args))
    except SystemExit as end:
        code = int(end.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def store(tmp_path: Path, make_row: Callable[..., dict[str, Any]]) -> Path:
    path = tmp_path / "runs.db"
    with Store(path, create=True) as opened:
        for k in (3, 5):
            for draw in range(2):
                opened.add(make_row(f"{k}{draw}", per_class=k, draw=draw))
    return path


def test_list_names_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "figure", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(FIGURES)
    code, out, _ = call(capsys, "figure", "list", "--json")
    assert [entry["figure"] for entry in json.loads(out)] == list(FIGURES)


@pytest.mark.parametrize("how", ["png", "pdf", "svg"])
def test_a_figure_of_the_store(store: Path, how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "figure", "labels", "--store", str(store), "--out", "pics", "--format", how, "--json")
    assert code == 0, err
    told = json.loads(out.splitlines()[-1])
    assert told["out"] == f"pics/labels.{how}"
    assert (tmp_path / told["out"]).stat().st_size > 1000


def test_an_export_will_do(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "bench", "export", "--store", str(store), "--csv", "r.csv")[0] == 0
    assert call(capsys, "figure", "labels", "--store", "r.csv")[0] == 0
    assert (tmp_path / "figures" / "labels.png").is_file()


@pytest.mark.slow
def test_runs_are_made_where_they_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_graph(block_model(120, 400, seed=0, classes=3, features=40, words=6).with_(name="tiny"), tmp_path / "tiny.npz")
    words = ("figure", "beta", "--dataset", "tiny.npz", "--per-class", "3", "--draws", "1", "--jobs", "1")
    small = ("--set", "epochs=4,samples=3,stages=1", "--store", "own.db")
    code, _, err = call(capsys, *words, *small)
    assert code == 2
    assert re.search(r"drgst bench --datasets \S*tiny\.npz --per-class 3,5,10", err)
    code, out, err = call(capsys, *words, *small, "--run")
    assert code == 0, err
    assert out == "figures/beta.png\n"
    with Store("own.db") as opened:
        rows = opened.all_rows()
    assert sorted({json.loads(row["settings"])["beta"] for row in rows}) == [1 / 3, 1 / 2, 2 / 3, 1.0]
    assert {row["recipe"] for row in rows} == {"drgst-do", "drgst-de"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("figure", "tresholds"), "did you mean 'threshold'?"),
        (("figure", "labels", "--format", "pgn"), "did you mean 'png'?"),
        (("figure", "labels", "--store", "none.db"), "none.db holds no runs for the figure labels; drgst bench"),
        (("figure", "ablation-de"), "--recipes drgst-de,drgst-de-ig,drgst-de-lc,drgst-de-wo"),
        (("figure", "stages", "--dataset", "citeser"), "citese"),
        (("figure", "toy", "--set", "epocs=3"), "did you mean 'epochs'?"),
        (("reproduce", "--store", "/proc/runs.db"), "can't write"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, *words)
    assert code == 2
    assert err.count("\n") == 1, err
    assert message in err


def test_without_matplotlib_it_says_how_to_get_it(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for words in (("figure", "labels", "--store", str(store)), ("reproduce", "--out", "r")):
        code, _, err = call(capsys, *words)
        assert code == 2
        assert err == "error: figures need matplotlib, which is not installed: pip install 'drgst[figures]'\n"
