"""The store as a table: rows in, rows out, exports and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.bench.export import readable_rows, to_csv, to_parquet
from drgst.bench.store import Store
from drgst.errors import StoreError

Row = Callable[..., dict[str, Any]]


def test_what_succeeded_stays_and_what_failed_is_replaced(store: Store, make_row: Row) -> None:
    store.add(make_row("a", test_accuracy=0.5))
    store.add(make_row("a", test_accuracy=0.9))
    store.add(make_row("b", error="boom"))
    assert store.finished(["a", "b", "c"]) == {"a"}
    assert [r["error"] for r in store.errors(["a", "b"])] == ["boom"]
    store.add(make_row("b"))
    assert store.finished(["a", "b"]) == {"a", "b"}
    assert store.rows(["a"], ("test_accuracy",)) == [{"test_accuracy": 0.5}]


def test_more_keys_than_a_statement_takes(store: Store, make_row: Row) -> None:
    with store.writing():
        for i in range(1200):
            store.add(make_row(f"k{i}", draw=i))
    assert len(store.finished(f"k{i}" for i in range(1300))) == 1200


@pytest.mark.parametrize(("write", "suffix"), [(to_csv, "csv"), (to_parquet, "parquet")])
def test_an_export_comes_back_as_it_was(store: Store, make_row: Row, tmp_path: Path, write: Any, suffix: str) -> None:
    store.add(make_row("a", stop_reason='said "stop", twice\nand ended'))
    store.add(make_row("b", draw=1, error="boom", test_accuracy=None))
    path = tmp_path / f"runs.{suffix}"
    write(store.all_rows(), path)
    assert readable_rows(path) == store.all_rows()


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


def test_a_store_that_is_not_there_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        Store(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_a_transaction_that_fails_leaves_nothing(store: Store, make_row: Row) -> None:
    def fail() -> None:
        with store.writing():
            store.add(make_row("a"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.all_rows() == []
