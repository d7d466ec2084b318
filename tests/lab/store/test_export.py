"""Exports of a store, and back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.errors import StoreError
from drgst.lab.store import Store
from drgst.lab.store.export import readable_rows, to_csv

Row = Callable[..., dict[str, Any]]


def test_an_export_comes_back_as_it_was(store: Store, make_row: Row, tmp_path: Path) -> None:
    store.add(make_row("a", stop_reason='said "stop", twice\nand ended'))
    store.add(make_row("b", draw=1, error="boom", test_accuracy=None))
    store.add(make_row("c", dataset="=cmd|' /C calc'!A0", recipe="@SUM(1)", error="-x\r+y"))
    path = tmp_path / "runs.csv"
    to_csv(store.all_rows(), path)
    assert readable_rows(path) == store.all_rows()
    assert "'=cmd|" in path.read_text()  # not a formula in a spreadsheet


def test_a_csv_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StoreError, match="not an export of a store: it has no column key"):
        readable_rows(tmp_path / "other.csv")


def test_a_csv_that_was_cut_off_is_refused(store: Store, make_row: Row, tmp_path: Path) -> None:
    store.add(make_row("a"))
    to_csv(store.all_rows(), tmp_path / "cut.csv")
    whole = (tmp_path / "cut.csv").read_text(encoding="utf-8")
    (tmp_path / "cut.csv").write_text(whole[: whole.rindex("2026")], encoding="utf-8")
    with pytest.raises(StoreError, match=r"can't read .*cut\.csv"):
        readable_rows(tmp_path / "cut.csv")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"draw": 10**29}, "run 2: draw is 1(0{29}), but must be a whole number from 0 to 9,223,372,036,854,775,807"),
        ({"draw": "two"}, "run 2: draw is 'two', but must be a whole number"),
        ({"test_accuracy": 1e308}, "run 2: test_accuracy is 1e[+]308, but must be a number from 0 to 1"),
        ({"settings": "{"}, "run 2: settings is '{', but must be a JSON object"),
    ],
)
def test_a_value_that_is_not_allowed_is_named(make_row: Row, tmp_path: Path, changes: Any, message: str) -> None:
    to_csv([make_row("a"), make_row("b", **changes)], tmp_path / "runs.csv")
    with pytest.raises(StoreError, match=message):
        readable_rows(tmp_path / "runs.csv")
