"""``drgst lab figure``: text, JSON, and how bad input ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from drgst.lab.figures.registry import FIGURES

Call = Callable[..., tuple[int, str, str]]


def test_list_names_every_figure(call: Call) -> None:
    code, out, _ = call("lab", "figure", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(FIGURES)


def test_a_store_and_its_export(filled: Path, tmp_path: Path, call: Call) -> None:
    assert call("lab", "bench", "export", "r.csv", "--store", filled)[0] == 0
    assert call("lab", "figure", "labels", "--store", "r.csv")[0] == 0
    assert (tmp_path / "figures" / "labels.png").is_file()
    code, out, err = call("lab", "figure", "labels", "--store", filled, "--out", "pics/a.svg")
    assert code == 0, err
    assert out == "pics/a.svg\n"
    assert (tmp_path / "pics" / "a.svg").stat().st_size > 1000
