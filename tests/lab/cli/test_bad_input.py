"""Commands of the laboratory that are refused: one line, code 2, and no file is left."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

REFUSED = {
    "bench": [
        (("--recipes", "drgst-dee", "--draws", "1"), "did you mean 'drgst-de'?"),
        (("--datasets", "citeser", "--draws", "1"), "did you mean 'citeseer'?"),
        (("--datasets", ",", "--draws", "1"), "the grid is empty"),
        (("--draws", "0"), "the grid is empty"),
        (("--draws", "100to104"), "a range such as 100-104"),
        (("--per-class", "three"), "whole numbers separated by commas"),
        (("--per-class", "40", "--recipes", "gcn", "--draws", "1"), "allows 1 to 20 labels per class"),
        (("--executor", "rya"), "unknown executor 'rya'; did you mean 'ray'?"),
        (("--set", "treshold=1"), "did you mean 'threshold'?"),
        (("--preset", "none.toml"), "can't read none.toml"),
        (("--store", "/proc/runs.db", "--draws", "1"), "can't write the store"),
        (("export", "x.csv", "--store", "none.db"), "there is no store none.db"),
        (("rescue", "none.csv"), "there is no file none.csv"),
    ],
    "tune": [
        (("cora", "--recipe", "gcn", "--draws", "1"), "take --space wide"),
        (("cora", "--space", "papr", "--draws", "1"), "did you mean 'paper'?"),
    ],
    "figure": [
        (("tresholds",), "did you mean 'threshold'?"),
        (("labels", "--out", "a.pgn"), "it must end in .png, .pdf, .svg"),
        (("labels", "--store", "none.db"), "none.db holds no runs for the figure labels; drgst lab reproduce --store"),
        (("stages", "--dataset", "citeser"), "citese"),
        (("toy", "--set", "epocs=3"), "did you mean 'epochs'?"),
    ],
    "reproduce": [(("--store", "/proc/runs.db"), "can't write")],
    "table": [
        (("mian",), "did you mean 'main'?"),
        (("main", "--format", "word"), "unknown format 'word'"),
        (("main", "--store", "none.db"), "there is no store none.db"),
    ],
}


@pytest.mark.parametrize(
    ("command", "words", "message"), [(name, *case) for name, cases in REFUSED.items() for case in cases]
)
def test_bad_input_is_one_line_and_code_2_and_leaves_no_file(
    command: str, words: tuple[str, ...], message: str, refused: Any, tmp_path: Path
) -> None:
    assert message in refused("lab", command, *words)
    assert not list(tmp_path.glob("runs.db*"))
    assert not (tmp_path / "reproduction").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pool", "all-but-validation"), "the store has default / unlabelled / public"),
        (("--against", "gnc"), "unknown recipe in the store 'gnc'; did you mean 'gcn'?"),
    ],
)
def test_runs_that_the_store_does_not_have(filled: Path, words: tuple[str, ...], message: str, refused: Any) -> None:
    assert message in refused("lab", "table", "main", *words)


@pytest.mark.parametrize("words", [("figure", "labels"), ("reproduce", "--out", "r")])
def test_without_matplotlib_it_says_how_to_get_it(
    filled: Path, words: tuple[str, ...], refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    message = "error: a figure needs matplotlib, which is not installed: pip install 'drgst[report]'\n"
    assert refused("lab", *words) == message
