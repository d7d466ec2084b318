"""``drgst lab table``: a table on standard output, and how bad input ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Call = Callable[..., tuple[int, str, str]]


def test_a_table_goes_to_standard_output(filled: Path, call: Call) -> None:
    code, out, err = call("lab", "table", "time", "--store", filled, "--variant", "validation")
    assert code == 0, err
    assert "gcn" in out


def test_data_sets_that_cannot_be_opened_are_left_empty(filled: Path, call: Call) -> None:
    code, out, err = call("lab", "table", "datasets", "--store", filled, "--format", "csv")
    assert code == 0, err
    assert "2,708" in out or "2708" in out
