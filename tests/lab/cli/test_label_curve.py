"""``drgst lab label-curve``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import drgst
from drgst.cli import main
from drgst.io.npz import save_graph


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    graph = drgst.block_model(150, 500, seed=0, classes=3, features=40, words=6)
    save_graph(graph.with_(name="town"), tmp_path / "town.npz")
    return tmp_path / "town.npz"


def call(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["lab", "label-curve", *map(str, words)])
    return int(ended.value.code or 0)


def test_curves(file: Path, capsys: Any) -> None:
    """A table, a figure, a line of JSON; a second call reuses all."""
    words = (file, "--start", 2, "--budget", 2, "--batch", 2, "--by", "margin,random", "--draws", 1, "--jobs", 1)
    assert call(*words, "--figure", "c.png", "--json") == 0
    out = capsys.readouterr().out
    assert [row["by"] for row in json.loads(out.splitlines()[-1])["choosers"]] == ["margin", "random"]
    assert Path("c.png").stat().st_size > 0
    assert call(*words) == 0
    out = capsys.readouterr().out
    assert "margin" in out
    assert "ran 0, reused 2" in out


def test_list_and_refusals(file: Path, capsys: Any) -> None:
    assert call(file, "--by", "list") == 0
    assert "k-center" in capsys.readouterr().out
    assert call(file, "--by", "entropi") == 2
    assert "entropy" in capsys.readouterr().err
    assert call(file, "--figure", "c.docx", "--jobs", 1) == 2
