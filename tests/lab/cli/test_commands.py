"""``drgst lab table``, ``figure``, ``tune`` and ``label-curve``, and how bad input of every command ends."""

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.lab.figures.registry import FIGURES
from drgst.lab.reproduction import Reproduction
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
    fixed = ("--set", "epochs=5,samples=3")
    search = ("--recipe", "drgst-de", "--per-class", "3", "--trials", "3", "--draws", "2", "--jobs", "1")
    out, _ = ok("lab", "tune", tiny, *search, *fixed, "--out", "p.toml")
    assert "3 trials" in out
    tuned = tomllib.loads(Path("p.toml").read_text(encoding="utf-8"))
    ok("run", "--config", "p.toml", "--out", "run")
    grid = ("--datasets", tiny, "--per-class", "3", "--recipes", "drgst-de,gcn", "--draws", "1", "--jobs", "1")
    out, _ = ok("lab", "bench", *grid, "--preset", "p.toml", *fixed, "--json")
    with Store("runs.db") as store:
        runs = [row for row in store.all_rows() if not row["variant"].startswith("trial")]
    rows = {row["recipe"]: json.loads(row["settings"]) for row in runs}
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
    assert "balanced-variance" in ok("lab", "label-curve", tiny, "--by", "list")[0]
    assert "entropy" in refused("lab", "label-curve", tiny, "--by", "entropi")
    refused("lab", "label-curve", tiny, "--figure", "c.docx", "--jobs", 1)


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
    "tune": [(("cora", "--recipe", "gcn", "--draws", "1"), "there is nothing to tune")],
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


def test_a_reproduction_from_a_store_says_what_takes_its_time(ok: Any, monkeypatch: Any, tmp_path: Path) -> None:
    made = Reproduction(tmp_path / "index.html")
    monkeypatch.setattr("drgst.lab.reproduction.reproduce", lambda *_: made)
    out, err = ok("lab", "reproduce", "--no-run", "--out", tmp_path)
    assert "training the networks of figures and claims" in err
    assert "index.html" in out
