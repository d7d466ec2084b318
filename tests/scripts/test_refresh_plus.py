"""scripts/refresh_plus.py, and that no stored figure is of an earlier version of its recipe."""

import csv
import gzip
import io
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
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


def cell_means(rows: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """(recipe, mean accuracy as pages print it) of each cell."""
    names = ["recipe", "recipe_version", "dataset", "per_class", "variant", "pool", "validation"]
    means = pd.DataFrame(rows).groupby(names, dropna=False)["test_accuracy"].mean().dropna()
    return {(key[0], f"{100 * mean:.1f}") for key, mean in means.items()}


@pytest.fixture(scope="module")
def stale(script: ModuleType) -> set[tuple[str, str]]:
    """(recipe, figure) of earlier versions that are no figure of one that ships."""
    archived = gzip.decompress(script.ARCHIVE.read_bytes()).decode()
    old = pd.read_csv(io.StringIO(archived), low_memory=False).to_dict("records")
    return cell_means(old) - cell_means(
        [*readable_rows(script.CELLS), *readable_rows(script.HOME / "results/graphs.csv")]
    )


def figures_of(text: str, stale: set[tuple[str, str]]) -> list[str]:
    """The figures of ``stale`` that stand in a paragraph which names their recipe, and numbers of earlier versions.

    Marked tables are left out: a script makes them from rows of the version that ships.
    """
    written = re.sub(r"<!-- table .*?<!-- end -->", "", text, flags=re.DOTALL)
    ships = find_recipe("drgst-plus").version
    found = [f"version {n}" for n in re.findall(r"\bversion (\d+)\b", text, re.IGNORECASE) if int(n) < ships]
    for paragraph in written.split("\n\n"):
        numbers = set(re.findall(r"(?<![\d.,])\d\d\.\d(?![\d.])", paragraph))
        found += sorted(figure for recipe, figure in stale if figure in numbers and f"`{recipe}`" in paragraph)
    return found


def test_no_page_repeats_a_figure_of_an_earlier_version(script: ModuleType, stale: set[tuple[str, str]]) -> None:
    """The notebook and the changelog tell what was; every other page tells what is."""
    recipe, figure = min(stale)
    assert figures_of(f"Here `{recipe}`\nhas {figure} %, as version 2 had.", stale) == ["version 2", figure]
    folders = ("docs", "results", "src/drgst/recipes")
    pages = [script.HOME / "README.md", *(p for name in folders for p in (script.HOME / name).rglob("*.*"))]
    pages = [p for p in pages if p.suffix in (".md", ".py", ".ipynb") and not {"notebook", "_build"} & {*p.parts}]
    assert len(pages) > 50
    assert {p.name: found for p in pages if (found := figures_of(p.read_text(encoding="utf-8"), stale))} == {}
