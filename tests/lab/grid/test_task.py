"""Keys: what is part of them, and what runs of one worker share."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drgst.datasets.synthetic import block_model
from drgst.errors import SettingError
from drgst.io.npz import save_graph
from drgst.lab.grid.execute import Expander, task_run
from drgst.lab.grid.grid import Grid, Task
from drgst.lab.store.export import readable_rows
from drgst.recipes import registry
from drgst.selftrain.problem import Problem


def task(**settings: object) -> Task:
    return Task("cora", "cora", 3, "gcn", "", "unlabelled", "public", 0, {"lr": 0.01, **settings}, "data", "split")


def expanded(recipe: str, **changes: Any) -> Task:
    grid = Grid(("cora",), (3,), (recipe,), 1, changes)
    return Expander(grid).tasks(next(grid.cells()))[0]


def test_a_key_depends_on_every_ingredient() -> None:
    plain = task()
    others = [
        replace(plain, recipe="gat"),
        replace(plain, recipe_version=2),
        replace(plain, draw=1),
        replace(plain, data_sha256="other"),
        replace(plain, split_sha256="other"),
        replace(plain, recipe_sha256="other"),
        task(lr=0.02),
    ]
    assert len({plain.key, *(other.key for other in others)}) == len(others) + 1


def test_a_key_does_not_depend_on_where_data_are_or_what_they_cost() -> None:
    assert task().key == replace(task(), source="/elsewhere", cost=7.0, variant="x").key


def test_the_file_of_a_recipe_counts_and_not_its_name() -> None:
    own = replace(task(), recipe="/a/own.toml", recipe_sha256="0" * 64)
    assert own.key == replace(own, recipe="/b/own.toml").key


def test_a_task_has_the_settings_that_its_recipe_reads() -> None:
    assert set(expanded("drgst-plus").settings) == {
        "stages",
        "keep",
        "view",
        "calibrate",
        "smooth",
        "correct_alpha",
        "smooth_alpha",
        "val_labels",
        "device",
    }


def test_of_the_settings_of_a_grid_each_recipe_takes_those_that_it_reads() -> None:
    """One that none of them reads is refused."""
    grid = Grid(("cora",), (3,), ("gcn", "drgst-plus"), 1, {"epochs": 5, "view": "knn"})
    expander = Expander(grid)
    expander.check()
    gcn, plus = (expander.tasks(cell)[0] for cell in grid.cells())
    assert (gcn.settings["epochs"], gcn.variant) == (5, "epochs=5")
    assert (plus.settings["view"], plus.variant) == ("knn", "view=knn")
    with pytest.raises(SettingError, match=r"no recipe of the grid reads the setting 'beta' \(recipes: gcn\)"):
        Expander(Grid(("cora",), (3,), ("gcn",), 1, {"beta": 5})).check()


def test_draws_are_a_number_or_given() -> None:
    assert Grid(("cora",), (3,), ("gcn",), 2).numbers == (0, 1)
    grid = Grid(("cora",), (3,), ("gcn",), range(100, 102))
    assert [task.seed for task in Expander(grid).tasks(next(grid.cells()))] == [100, 101]
    with pytest.raises(SettingError, match="at least 1 draw"):
        Grid(("cora",), (3,), ("gcn",), 0)


def test_a_new_version_has_new_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    before = expanded("gcn")
    monkeypatch.setitem(registry._TABLE, "gcn", replace(registry._TABLE["gcn"], version=2))
    after = expanded("gcn")
    assert (before.recipe_version, after.recipe_version) == (1, 2)
    assert before.key != after.key


def test_variant_names_what_differs() -> None:
    assert expanded("gcn").variant == expanded("gcn", dropout=0.5).variant == ""
    assert expanded("gcn", smooth="correct-and-smooth").variant == "smooth=correct-and-smooth"


def test_the_stored_results_are_recognised() -> None:
    """A changed key makes every stored run outdated: raise the version of the recipe whose results changed instead."""
    rows = readable_rows(Path(__file__).parents[3] / "results" / "runs.csv")
    stored, measured = {row["key"] for row in rows}, {row["recipe"] for row in rows if row["pool"] == "unlabelled"}
    recipes = ["gcn", "appnp", "sts", "m3s", "abn", "cagcn-st", "margin-st", "drgst-do", "drgst-de"]
    recipes += {"drgst-plus"} & measured  # which has no row between a new version and its first runs
    grid = Grid(("cora",), (3, 20), recipes, 2)
    expander = Expander(grid)
    assert all(task.key in stored for cell in grid.cells() for task in expander.tasks(cell))


def problems(grid: Grid) -> list[Problem]:
    """Of all draws of the only cell."""
    return [task_run(task).problem for task in Expander(grid).tasks(next(iter(grid.cells())))]


def test_runs_on_the_same_graph_share_a_graph_cache(make_grid: Callable[..., Grid], tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    save_graph(block_model(60, 200, seed=1, classes=3, features=40, words=6), other)
    first, second = problems(make_grid(recipes=["drgst-plus"], changes={}))
    assert first is not second
    assert first.graph_cache is second.graph_cache
    elsewhere, _ = problems(make_grid(recipes=["drgst-plus"], changes={}, datasets=[str(other)]))
    assert elsewhere.graph_cache is not first.graph_cache
