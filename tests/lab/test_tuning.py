"""Tuning: by validation accuracy alone, in the file of the store, continued where it ended."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.errors import RunError, SettingError
from drgst.graph.split import random_split
from drgst.io.npz import load_graph, save_graph
from drgst.lab.grid.execute import validate
from drgst.lab.grid.executors import Inline
from drgst.lab.grid.grid import Grid
from drgst.lab.store import Store
from drgst.lab.tuning import THRESHOLDS, Space, Tuner, space_of
from drgst.recipes import find_recipe

pytest.importorskip("optuna", reason="tuning needs Optuna: pip install 'drgst[tune]'")


MakeGrid = Callable[..., Grid]
FIXED = {"epochs": 5, "samples": 3}


@pytest.fixture
def one(make_grid: MakeGrid) -> Grid:
    """A grid of one cell, as tuning takes it."""
    return make_grid(recipes=["drgst-de"], changes=FIXED)


def tune(grid: Grid, store: Store, trials: int, space: str = "paper", **settings: Any) -> Any:
    ended: list[Any] = []
    tuned = Tuner(grid, space, store, **settings).run(trials, Inline(validate), lambda *trial: ended.append(trial))
    return tuned, ended


def test_the_best_trial_is_that_of_highest_validation_accuracy(one: Grid, store: Store) -> None:
    tuned, ended = tune(one, store, 4)
    complete = [value for _, state, value, _ in ended if state == "complete"]
    assert tuned.value == max(complete)
    assert tuned.default_value == ended[0][2]
    assert tuned.trials == 4
    assert set(tuned.settings) == {"threshold", "beta", "drop_rate", "epochs", "samples"}


def test_the_study_goes_on_in_the_same_file(one: Grid, store: Store) -> None:
    first, ended = tune(one, store, 2)
    second, more = tune(one, store, 5)
    assert (len(ended), len(more), second.trials) == (2, 3, 5)
    assert first.study == second.study
    assert second.value >= first.value
    with sqlite3.connect(store.path) as db:
        assert db.execute("SELECT count(*) FROM trials").fetchone() == (5,)
    assert store.all_rows() == []  # no run with test figures was made


def test_other_questions_have_other_studies(make_grid: MakeGrid, one: Grid, store: Store) -> None:
    names = {
        Tuner(grid, space, store).name
        for grid, space in (
            (one, "paper"),
            (one, "wide"),
            (make_grid(recipes=["drgst-do"], changes=FIXED), "paper"),
            (make_grid(recipes=["drgst-de"], changes={**FIXED, "lr": 0.1}), "paper"),
        )
    }
    assert len(names) == 4


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
            found.append(tune(grid, store, 3)[1])
    assert found[0] == found[1]


def test_a_trial_that_fails_is_reported_and_the_search_ends_with_its_error(one: Grid, store: Store) -> None:
    broken = Inline(lambda _: {"val_accuracy": None, "error": "TrainingError: no"})
    with pytest.raises(RunError, match="no trial was completed: TrainingError: no"):
        Tuner(one, "paper", store).run(2, broken)


def test_poor_trials_are_pruned(make_grid: MakeGrid, store: Store) -> None:
    grid = make_grid(recipes=["drgst-de"], changes=FIXED, draws=6)
    executor = Inline(lambda task: {"val_accuracy": 0.9 if task.variant <= "trial 5" else 0.1, "error": None})
    tuned = Tuner(grid, "paper", store).run(8, executor)
    assert tuned.pruned == 2
    assert tuned.value == pytest.approx(0.9)


def test_a_trial_left_by_a_killed_tuning_is_not_counted(one: Grid, store: Store, tmp_path: Path) -> None:
    """And the first trial has the settings of the recipe all the same."""
    Tuner(one, "paper", store).study.ask()
    tuned, ended = tune(one, store, 1)
    assert (tuned.trials, len(ended)) == (1, 1)
    with Store(tmp_path / "other.db", create=True) as other:
        assert ended[0][3] == tune(one, other, 1)[1][0][3]


def test_what_cannot_be_tuned_is_refused(make_grid: MakeGrid, one: Grid, store: Store) -> None:
    with pytest.raises(SettingError, match="take --space wide"):
        Tuner(make_grid(recipes=["gcn"], changes=FIXED), "paper", store)
    with pytest.raises(SettingError, match="did you mean 'paper'"):
        Tuner(one, "papre", store)
    with pytest.raises(SettingError, match="validation nodes"):
        Tuner(make_grid(recipes=["drgst-de"], validation="none"), "paper", store)


def space(name: str, recipe: str) -> Space:
    """The space of a recipe on Cora."""
    spec = find_recipe(recipe)
    settings = spec.settings()
    return space_of(name, "cora", settings.names, spec.make(settings).requires)


def test_the_papers_grid() -> None:
    assert space("paper", "drgst-de")["threshold"].choices == ((0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75))
    assert THRESHOLDS["flickr"][0] == 0.75
    assert THRESHOLDS["flickr"][-1] == 0.96
    assert THRESHOLDS["pubmed"][-1] == 0.9


def test_only_settings_that_the_recipe_reads_are_searched() -> None:
    """The drop rate only where gain decides."""
    assert set(space("paper", "drgst-de")) == {"threshold", "beta", "drop_rate"}
    assert set(space("paper", "drgst-de-wo")) == {"threshold"}
    assert set(space("wide", "gcn")) == {"lr", "weight_decay", "dropout", "hidden"}
    assert set(space("wide", "drgst-plus")) == {"stages"}
