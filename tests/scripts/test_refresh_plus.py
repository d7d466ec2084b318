"""scripts/refresh_plus.py, and that no stored figure is of an earlier version of its recipe."""

import csv
import gzip
import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from drgst.lab.grid.executors import Inline
from drgst.lab.grid.grid import Task
from drgst.lab.grid.run_grid import BenchCallback
from drgst.lab.store import Store
from drgst.lab.store.export import readable_rows, to_csv
from drgst.recipes import find_recipe

Row = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("name", ["runs.csv", "label_curves.csv", "graphs.csv"])
def test_stored_figures_are_of_the_version_that_ships(script: ModuleType, name: str) -> None:
    rows = [row for row in readable_rows(script.HOME / "results" / name) if row["recipe"] != "poisson"]
    old = {(r["recipe"], r["recipe_version"]) for r in rows if r["recipe_version"] != find_recipe(r["recipe"]).version}
    assert not old, "python scripts/refresh_plus.py makes them anew"
    assert all("+" in (row["code"] or "") for row in rows), "a run needs the commit that made it"


def test_rows_of_earlier_versions_move_to_the_archive(script: ModuleType, tmp_path: Path, make_row: Row) -> None:
    runs, archive = tmp_path / "runs.csv", tmp_path / "old.csv.gz"
    version = find_recipe("drgst-plus").version
    rows = [
        make_row("a", recipe="gcn"),
        make_row("b", recipe="drgst-plus", recipe_version=version - 1),
        make_row("c", recipe="drgst-plus", recipe_version=version),
    ]
    for _ in range(2):
        to_csv(rows, runs)
        assert script.retire(runs, archive) == 1
        assert [row["key"] for row in readable_rows(runs)] == ["a", "c"]
    found = csv.DictReader(io.StringIO(gzip.decompress(archive.read_bytes()).decode()))
    assert [row["key"] for row in found] == ["b"]
    assert script.retire(runs, archive) == 0


def test_an_interrupted_refresh_is_continued(
    script: ModuleType, tmp_path: Path, make_row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row without a commit stays until its run was made again; when the time is over, what was made is kept."""
    path, plus = tmp_path / "runs.csv", {"recipe": "drgst-plus", "recipe_version": find_recipe("drgst-plus").version}
    old = [make_row(key, draw=draw, code="0.1.0", test_accuracy=0.5, **plus) for draw, key in enumerate("ab")]
    to_csv([make_row("g"), *old], path)
    monkeypatch.setitem(script.STORES, path, tmp_path / "runs.db")

    def steps() -> Iterator[Any]:
        def step(store: Store, _: Any, progress: BenchCallback) -> None:
            if "a" not in store.finished(["a"]):
                row = make_row("a", code="0.1.0+abc1234", test_accuracy=0.75, **plus)
                store.add(row)
                progress.done(Task("cora", "cora", 3, "drgst-plus", "", "", "", 0, {}, "", ""), row)
            store.add(make_row("b", draw=1, code="0.1.0+abc1234", test_accuracy=0.8, **plus))

        yield step

    def accuracies() -> dict[str, float]:
        return {row["key"]: row["test_accuracy"] for row in readable_rows(path) if row["recipe"] == "drgst-plus"}

    assert not script.make(path, steps(), Inline(), script.Progress(deadline=0))
    assert accuracies() == {"a": 0.75, "b": 0.5}
    assert script.make(path, steps(), Inline(), script.Progress(deadline=math.inf))
    assert accuracies() == {"a": 0.75, "b": 0.8}
    assert script.draws_of("5,pubmed=3") == {"cora": 5, "citeseer": 5, "flickr": 5, "pubmed": 3}
