"""``drgst lab table``: a table on standard output, and how bad input ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Call = Callable[..., tuple[int, str, str]]


def test_a_table_goes_to_standard_output(filled: Path, call: Call) -> None:
    code, out, err = call("lab", "table", "time", "--store", filled, "--variant", "validation")
    assert code == 0, err
    assert "gcn" in out


def test_data_sets_that_cannot_be_opened_are_left_empty(filled: Path, call: Call) -> None:
    code, out, err = call("lab", "table", "datasets", "--store", filled, "--format", "csv")
    assert code == 0, err
    assert "2,708" in out or "2708" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mian",), "did you mean 'main'?"),
        (("main", "--format", "word"), "unknown format 'word'"),
        (("main", "--store", "none.db"), "there is no store none.db"),
        (("main", "--pool", "all-but-validation"), "the store has default / unlabelled / public"),
        (("main", "--against", "gnc"), "unknown recipe in the store 'gnc'; did you mean 'gcn'?"),
    ],
)
def test_bad_input_is_one_line_and_code_2(filled: Path, words: tuple[str, ...], message: str, call: Call) -> None:
    code, _, err = call("lab", "table", *words)
    assert code == 2
    assert err.count("\n") == 1
    assert message in err
