"""Tuning: by validation accuracy alone, in the store, continued where it ended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.errors import RunError, SettingError
from drgst.graph.split import random_split
from drgst.io.npz import load_graph, save_graph
from drgst.lab.grid.executors import Inline
from drgst.lab.grid.grid import Grid
from drgst.lab.store import Store
from drgst.lab.store.cells import RunFilter, runs_by_cell
from drgst.lab.tuning import OTHERS, TrialTask, Tuned, execute_trial, papers_space, tune

MakeGrid = Callable[..., Grid]
FIXED = {"epochs": 5, "samples": 3}


@pytest.fixture
def one(make_grid: MakeGrid) -> Grid:
    """A grid of one cell, as tuning takes it."""
    return make_grid(recipes=["drgst-de"], changes=FIXED)


def tuned(grid: Grid, store: Store, trials: int, work: Callable[..., Any] = execute_trial) -> tuple[Tuned, list[Any]]:
    """What was found, and the variants of the runs that were made."""
    made: list[Any] = []

    def recorded(task: Any) -> dict[str, Any]:
        made.append(task.variant)
        return work(task)

    return tune(grid, trials, store, Inline(recorded)), made


def test_the_best_trial_is_that_of_highest_validation_accuracy(one: Grid, store: Store) -> None:
    found, made = tuned(one, store, 4)
    rows = store.all_rows()
    means = {v: np.mean([r["val_accuracy"] for r in rows if r["variant"] == v]) for v in made}
    assert found.value == pytest.approx(max(means.values()))
    assert found.default_value == pytest.approx(means["trial own settings"])
    assert len(means) == found.trials == 4
    assert found.settings.keys() == {"threshold", "beta", "drop_rate", "epochs", "samples"}


def test_the_search_goes_on_in_the_same_store_and_no_table_shows_its_runs(one: Grid, store: Store) -> None:
    first, begun = tuned(one, store, 2)
    second, more = tuned(one, store, 5)
    assert len(more) == 3 * len(set(begun)) * len(begun) // 4
    assert not set(begun) & set(more)
    assert second.value >= first.value
    rows = store.all_rows()
    assert all(row["test_accuracy"] is None for row in rows)
    assert runs_by_cell(rows, RunFilter()) == {}
    other = tuned(Grid(one.datasets, one.per_class, one.recipes, one.draws, {**FIXED, "lr": 0.1}), store, 2)[1]
    assert len(other) == len(begun)


def test_scrambled_test_labels_change_nothing(tiny: Path, tmp_path: Path, make_grid: MakeGrid) -> None:
    graph = load_graph(tiny)
    graph = graph.with_(splits=(random_split(graph, per_class=5, val=30, test=60, seed=0),))
    labels = graph.labels.copy()
    labels[graph.splits[0].test] = np.random.default_rng(0).permutation(labels[graph.splits[0].test])
    found = []
    for name, made in (("a", graph), ("b", graph.with_(labels=labels))):
        (tmp_path / name).mkdir()
        save_graph(made, tmp_path / name / "tiny.npz")
        grid = make_grid(datasets=[str(tmp_path / name / "tiny.npz")], recipes=["drgst-de"], changes=FIXED)
        with Store(tmp_path / name / "runs.db", create=True) as store:
            found.append((tuned(grid, store, 3), [row["val_accuracy"] for row in store.all_rows()]))
    assert found[0][0] == found[1][0]
    assert sorted(found[0][1]) == sorted(found[1][1])


def test_a_trial_that_fails_is_left_out_and_the_search_ends_with_its_error(one: Grid, store: Store) -> None:
    def broken(task: TrialTask) -> dict[str, Any]:
        return {**execute_trial(task), "val_accuracy": None, "error": "TrainingError: no"}

    with pytest.raises(RunError, match="no trial was completed: TrainingError: no"):
        tuned(one, store, 2, broken)
    assert tuned(one, store, 1)[0].trials == 1  # a failed run is made again


def test_what_cannot_be_tuned_is_refused(make_grid: MakeGrid, store: Store) -> None:
    for grid, message in (
        (make_grid(recipes=["gcn"], changes=FIXED), "there is nothing to tune"),
        (make_grid(recipes=["drgst-de"], changes={"threshold": 0.5, "beta": 1.0, "drop_rate": 0.1}), "nothing to tune"),
        (make_grid(recipes=["drgst-de"], validation="none"), "validation nodes"),
    ):
        with pytest.raises(SettingError, match=message):
            tuned(grid, store, 1)


def test_the_papers_grid_of_the_settings_that_a_recipe_reads(make_grid: MakeGrid, store: Store) -> None:
    """The drop rate only where gain decides."""
    assert papers_space("cora")["threshold"] == (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)
    assert (papers_space("flickr")["threshold"][0], papers_space("flickr")["threshold"][-1]) == (0.75, 0.96)
    assert papers_space("pubmed")["threshold"][-1] == 0.9
    found, made = tuned(make_grid(recipes=["drgst-de-wo"], changes=FIXED, draws=1), store, 99)
    assert found.trials == 1 + len(OTHERS)
    assert {variant.partition("=")[0] for variant in made} == {"trial own settings", "trial threshold"}
