"""scripts/refresh_plus.py, and that no stored figure is of an earlier version of its recipe."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from drgst.lab.store.export import readable_rows, to_csv
from drgst.recipes import find_recipe

Row = Callable[..., dict[str, Any]]
UNSTAMPED = {("drgst-plus", 14)}  # recipe and version of stored rows without a commit, to be run again


@pytest.mark.parametrize("name", ["runs.csv", "label_curves.csv"])
def test_stored_figures_are_of_the_version_that_ships(script: ModuleType, name: str) -> None:
    rows = readable_rows(script.HOME / "results" / name)
    old = {(r["recipe"], r["recipe_version"]) for r in rows if r["recipe_version"] != find_recipe(r["recipe"]).version}
    assert not old, "python scripts/refresh_plus.py makes them anew"
    unstamped = {(row["recipe"], row["recipe_version"]) for row in rows if "+" not in (row["code"] or "")}
    assert unstamped <= UNSTAMPED, "a run needs the commit that made it"


def test_rows_of_earlier_versions_move_to_the_archive(script: ModuleType, tmp_path: Path, make_row: Row) -> None:
    runs, archive = tmp_path / "runs.csv", tmp_path / "old.csv.gz"
    version = find_recipe("drgst-plus").version
    plus = {"recipe": "drgst-plus", "recipe_version": version}
    rows = [
        make_row("a", recipe="gcn"),
        make_row("b", **{**plus, "recipe_version": version - 1}),
        make_row("c", **plus, code="0.1.0"),
        make_row("d", **plus, code="0.1.0+abc1234"),
    ]
    to_csv(rows, runs)
    assert script.retire(runs, archive) == 2
    assert [row["key"] for row in readable_rows(runs)] == ["a", "d"]
    to_csv(rows, runs)
    assert script.retire(runs, archive) == 2
    found = csv.DictReader(io.StringIO(gzip.decompress(archive.read_bytes()).decode()))
    assert [row["key"] for row in found] == ["b", "c"]
    assert script.retire(runs, archive) == 0
