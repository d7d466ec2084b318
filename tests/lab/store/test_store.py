"""The store: rows in, rows out, when its file is made, and what it refuses."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.errors import StoreError
from drgst.lab.store import Store
from drgst.lab.store.export import readable_rows

Row = Callable[..., dict[str, Any]]


def test_what_succeeded_stays_and_what_failed_is_replaced(store: Store, make_row: Row) -> None:
    store.add(make_row("a", test_accuracy=0.5))
    store.add(make_row("a", test_accuracy=0.9))
    store.add(make_row("b", error="boom"))
    assert store.finished(["a", "b", "c"]) == {"a"}
    assert [r["error"] for r in store.rows(["a", "b"], ("error",), failed=True)] == ["boom"]
    store.add(make_row("b"))
    assert store.finished(["a", "b"]) == {"a", "b"}
    assert store.rows(["a"], ("test_accuracy",)) == [{"test_accuracy": 0.5}]


def test_more_keys_than_a_statement_takes(store: Store, make_row: Row) -> None:
    with store.transaction():
        for i in range(1200):
            store.add(make_row(f"k{i}", draw=i))
    assert len(store.finished(f"k{i}" for i in range(1300))) == 1200


def test_a_store_that_is_not_there_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        Store(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_a_transaction_that_fails_leaves_nothing(store: Store, make_row: Row) -> None:
    def fail() -> None:
        with store.transaction():
            store.add(make_row("a"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.all_rows() == []


def test_a_new_store_has_no_file_before_the_first_write(make_row: Row, tmp_path: Path) -> None:
    path = tmp_path / "new" / "runs.db"
    with Store(path, create=True) as store:
        assert store.all_rows() == []
        assert store.finished(["a"]) == set()
    assert list(tmp_path.iterdir()) == []
    with Store(path, create=True) as store, Store(path, create=True) as other:
        store.add(make_row("a"))
        assert other.finished(["a"]) == {"a"}, "a file that another process has made meanwhile is read"


@pytest.mark.parametrize(("version", "words"), [(1, "an older drgst"), (99, "a newer drgst")])
def test_a_store_of_another_version_is_refused(store: Store, make_row: Row, version: int, words: str) -> None:
    store.add(make_row("a"))
    with sqlite3.connect(store.path) as db:
        db.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(StoreError, match=words), Store(store.path) as reader:
        reader.finished(["a"])


@pytest.mark.parametrize("foreign", ["view", "trigger"])
def test_a_store_with_a_program_in_it_is_refused(store: Store, make_row: Row, foreign: str) -> None:
    """A recursive view in place of the runs would never end."""
    store.add(make_row("a"))
    store.close()
    endless = (
        "CREATE VIEW runs AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x AS key FROM r"
    )
    trigger = "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END"
    with sqlite3.connect(store.path) as db:
        for statement in ("DROP TABLE runs", endless) if foreign == "view" else (trigger,):
            db.execute(statement)
    with pytest.raises(StoreError, match=f"has a {foreign}"):
        Store(store.path)
    with pytest.raises(StoreError, match=f"has a {foreign}"):
        readable_rows(store.path)
