"""``drgst lab figure``: text, JSON, and how bad input ends."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from drgst.datasets.synthetic import block_model
from drgst.io.npz import save_graph
from drgst.lab.figures.registry import FIGURES
from drgst.lab.store import Store

Call = Callable[..., tuple[int, str, str]]


def test_list_names_every_figure(call: Call) -> None:
    code, out, _ = call("lab", "figure", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(FIGURES)
    code, out, _ = call("lab", "figure", "list", "--json")
    assert [entry["figure"] for entry in json.loads(out)] == list(FIGURES)


@pytest.mark.parametrize("how", ["png", "pdf", "svg"])
def test_a_figure_of_the_store(filled: Path, how: str, tmp_path: Path, call: Call) -> None:
    code, out, err = call("lab", "figure", "labels", "--store", filled, "--out", "pics", "--format", how, "--json")
    assert code == 0, err
    document = json.loads(out.splitlines()[-1])
    assert document["out"] == f"pics/labels.{how}"
    assert (tmp_path / document["out"]).stat().st_size > 1000


def test_an_export_will_do(filled: Path, tmp_path: Path, call: Call) -> None:
    assert call("lab", "bench", "export", "--store", filled, "--csv", "r.csv")[0] == 0
    assert call("lab", "figure", "labels", "--store", "r.csv")[0] == 0
    assert (tmp_path / "figures" / "labels.png").is_file()


@pytest.mark.slow
def test_runs_are_made_where_they_are_asked_for(tmp_path: Path, call: Call) -> None:
    save_graph(block_model(120, 400, seed=0, classes=3, features=40, words=6).with_(name="tiny"), tmp_path / "tiny.npz")
    words = ("lab", "figure", "beta", "--dataset", "tiny.npz", "--per-class", "3", "--draws", "1", "--jobs", "1")
    small = ("--set", "epochs=4,samples=3,stages=1", "--store", "own.db")
    code, _, err = call(*words, *small)
    assert code == 2
    assert re.search(r"drgst lab bench --datasets \S*tiny\.npz --per-class 3,5,10", err)
    code, out, err = call(*words, *small, "--run")
    assert code == 0, err
    assert out == "figures/beta.png\n"
    with Store("own.db") as opened:
        rows = opened.all_rows()
    assert sorted({json.loads(row["settings"])["beta"] for row in rows}) == [1 / 3, 1 / 2, 2 / 3, 1.0]
    assert {row["recipe"] for row in rows} == {"drgst-do", "drgst-de"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lab", "figure", "tresholds"), "did you mean 'threshold'?"),
        (("lab", "figure", "labels", "--format", "pgn"), "did you mean 'png'?"),
        (
            ("lab", "figure", "labels", "--store", "none.db"),
            "none.db holds no runs for the figure labels; drgst lab bench",
        ),
        (("lab", "figure", "ablation-de"), "--recipes drgst-de,drgst-de-ig,drgst-de-lc,drgst-de-wo"),
        (("lab", "figure", "stages", "--dataset", "citeser"), "citese"),
        (("lab", "figure", "toy", "--set", "epocs=3"), "did you mean 'epochs'?"),
    ],
)
def test_bad_input_is_one_line_and_code_2(words: tuple[str, ...], message: str, call: Call) -> None:
    code, _, err = call(*words)
    assert code == 2
    assert err.count("\n") == 1, err
    assert message in err


def test_without_matplotlib_it_says_how_to_get_it(filled: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = call("lab", "figure", "labels", "--store", filled)
    assert code == 2
    assert err == "error: a figure needs matplotlib, which is not installed: pip install 'drgst[figures]'\n"
