"""The store of runs: its schema, rows, cells and transactions."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drgst.errors import StoreError
from drgst.lab.store import Store
from drgst.lab.store.cells import RunFilter, check_any, on_common_draws, runs_by_cell
from drgst.lab.store.export import readable_rows
from drgst.lab.store.schema import invalid

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


def test_a_row_as_the_bench_writes_it_is_valid(make_row: Row) -> None:
    assert invalid(make_row("a", stage_rows='[{"epochs": 3}, {"gain": NaN}]', settings='{"lr": 0.1}')) is None
    assert invalid({"test_accuracy": 1, "brier": 2.0, "seconds": 1e6}) is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("test_accuracy", 1e308, "test_accuracy is 1e+308, but must be a number from 0 to 1.0"),
        ("test_accuracy", float("nan"), "test_accuracy is nan"),
        ("val_accuracy", -0.1, "val_accuracy is -0.1"),
        ("ece", "high", "ece is 'high', but must be a number"),
        ("macro_f1", b"\x00\x01", "macro_f1 is b"),
        ("seconds", float("inf"), "seconds is inf"),
        ("draw", 10**30, "draw is 1000000000000000000000000000000, but must be a whole number from 0 to 9,223,372,"),
        ("draw", None, "draw is None"),
        ("per_class", 2.5, "per_class is 2.5, but must be a whole number"),
        ("recipe", b"gcn", "recipe is b'gcn', but must be text"),
        ("recipe", None, "recipe is None, but must be text"),
        ("settings", "{", "settings is '{', but must be a JSON object"),
        ("settings", "[]", "settings is '[]', but must be a JSON object"),
        ("settings", '{"lr": 1e999}', "but must be a JSON object"),
        ("settings", "[" * 100_000, "but must be a JSON object"),
        ("stage_rows", "[1]", "stage_rows is '[1]', but must be a JSON array of objects"),
    ],
)
def test_what_is_not_allowed_is_named_with_what_is(name: str, value: Any, message: str) -> None:
    assert message in str(invalid({name: value}))


CELL = ("cora", 3, "gcn")


Runs = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def runs(make_row: Callable[..., dict[str, Any]]) -> Runs:
    """``n`` draws with one variant, threshold and validation accuracy."""

    def make(variant: str, threshold: float, val: float, created: str = "2026-01-01", n: int = 3) -> Any:
        changes = {"variant": variant, "settings": json.dumps({"threshold": threshold}), "created": created}
        return [make_row(f"{variant}{threshold}{d}", draw=d, val_accuracy=val, **changes) for d in range(n)]

    return make


def test_default_takes_the_recipes_own_settings(runs: Runs) -> None:
    rows = runs("", 0.6, 0.5) + runs("threshold=0.4", 0.4, 0.9)
    assert runs_by_cell(rows, RunFilter())[CELL].rows[0]["variant"] == ""
    assert runs_by_cell(rows, RunFilter("threshold=0.4"))[CELL].rows[0]["variant"] == "threshold=0.4"


def test_validation_takes_the_best_by_validation_among_those_with_most_draws(runs: Runs) -> None:
    rows = runs("", 0.6, 0.5) + runs("threshold=0.4", 0.4, 0.7) + runs("threshold=0.3", 0.3, 0.9, n=1)
    assert runs_by_cell(rows, RunFilter("validation"))[CELL].rows[0]["variant"] == "threshold=0.4"


def test_a_cell_never_mixes_settings(runs: Runs) -> None:
    """The recipe's own settings have changed since: the newer ones are shown, even where fewer draws have them."""
    rows = runs("", 0.6, 0.5, "2026-01-01", 3) + runs("", 0.7, 0.5, "2026-02-01", 2)
    found = runs_by_cell(rows, RunFilter())[CELL]
    assert len(found.rows) == 2
    assert {json.loads(r["settings"])["threshold"] for r in found.rows} == {0.7}


def test_pool_and_validation_are_not_mixed(runs: Runs) -> None:
    rows = runs("", 0.6, 0.5)
    assert runs_by_cell(rows, RunFilter(pool="all-but-validation")) == {}
    with pytest.raises(StoreError, match="the store has default / unlabelled / public"):
        check_any({}, rows, RunFilter(pool="all-but-validation"))


def test_a_recipe_that_does_not_read_a_setting_has_the_runs_of_the_others(make_row: Any) -> None:
    """A baseline without a threshold is compared with runs at threshold 0.4; a name that no run knows finds none."""
    read, unread = '{"epochs": 5, "threshold": 0.4}', '{"epochs": 5}'
    rows = [
        make_row("a", recipe="drgst-de", variant="epochs=5,threshold=0.4", settings=read),
        make_row("b", recipe="gcn", variant="epochs=5", settings=unread),
        make_row("c", recipe="gcn", variant="", settings='{"epochs": 9}'),
    ]
    for text, found in (("epochs=5,threshold=0.4", "ab"), ("epochs=5", "b"), ("epochs=5,treshold=0.4", ""), ("", "c")):
        cells = runs_by_cell(rows, RunFilter(text))
        assert "".join(sorted(runs.rows[0]["key"] for runs in cells.values())) == found


def test_recipes_are_compared_on_the_draws_that_all_have(make_row: Any) -> None:
    drawn = {
        ("cora", "gcn"): (0, 1, 2),
        ("cora", "appnp"): (1, 2, 3),
        ("pubmed", "gcn"): (0,),
        ("pubmed", "appnp"): (1,),
    }
    rows = [make_row(f"{d}{r}{n}", dataset=d, recipe=r, draw=n) for (d, r), draws in drawn.items() for n in draws]
    cells = on_common_draws(runs_by_cell(rows, RunFilter()))
    found = {(dataset, recipe): [row["draw"] for row in runs.rows] for (dataset, _, recipe), runs in cells.items()}
    assert found == {("cora", "gcn"): [1, 2], ("cora", "appnp"): [1, 2]}
