"""``drgst lab reproduce``: how bad input ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]


def test_a_store_that_cannot_be_written_is_one_line_and_code_2(call: Call, tmp_path: Path) -> None:
    code, _, err = call("lab", "reproduce", "--store", "/proc/runs.db")
    assert code == 2
    assert err.count("\n") == 1
    assert "can't write" in err
    assert not (tmp_path / "reproduction").exists()


def test_without_matplotlib_it_says_how_to_get_it(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = call("lab", "reproduce", "--out", "r")
    assert code == 2
    assert err == "error: a figure needs matplotlib, which is not installed: pip install 'drgst[report]'\n"
