"""``drgst lab figure``: text, JSON, and how bad input ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from drgst.lab.figures.registry import FIGURES

Call = Callable[..., tuple[int, str, str]]


def test_list_names_every_figure(call: Call) -> None:
    code, out, _ = call("lab", "figure", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(FIGURES)


@pytest.mark.parametrize("how", ["png", "pdf", "svg"])
def test_a_figure_of_the_store(filled: Path, how: str, tmp_path: Path, call: Call) -> None:
    code, out, err = call("lab", "figure", "labels", "--store", filled, "--out", f"pics/a.{how}")
    assert code == 0, err
    assert out == f"pics/a.{how}\n"
    assert (tmp_path / "pics" / f"a.{how}").stat().st_size > 1000


def test_an_export_will_do(filled: Path, tmp_path: Path, call: Call) -> None:
    assert call("lab", "bench", "export", "r.csv", "--store", filled)[0] == 0
    assert call("lab", "figure", "labels", "--store", "r.csv")[0] == 0
    assert (tmp_path / "figures" / "labels.png").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lab", "figure", "tresholds"), "did you mean 'threshold'?"),
        (("lab", "figure", "labels", "--out", "a.pgn"), "it must end in .png, .pdf, .svg"),
        (("lab", "figure", "labels", "--store", "none.db"), "none.db holds no runs for the figure labels"),
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
    assert err == "error: a figure needs matplotlib, which is not installed: pip install 'drgst[report]'\n"
