"""The tasks of a grid, and one run, from a task to a row of the store. Workers call this module."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from drgst.datasets.load import open_graph
from drgst.datasets.registry import DATASETS
from drgst.datasets.synthetic import block_model
from drgst.errors import DataFileError, DrgstError, RunError, SettingError, unknown
from drgst.graph.core import Graph
from drgst.graph.split import Split, random_split
from drgst.lab.grid.grid import Cell, Grid, Task
from drgst.lab.paper import variant_name
from drgst.lab.store.schema import COLUMNS
from drgst.memory import restart_peak
from drgst.recipes import RecipeSpec, find_recipe, recipe_names
from drgst.recipes.registry import registered, resolve
from drgst.runs.config import RunConfig
from drgst.runs.fingerprint import data_fingerprint, split_fingerprint
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.problem import GraphCache

Row = dict[str, Any]


class Expander:
    """Makes the tasks of cells; graphs and splits are cached, since all recipes share them."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.graph = lru_cache(maxsize=None)(open_graph)
        self.data_sha256 = lru_cache(maxsize=None)(lambda source: data_fingerprint(self.graph(source)))
        self.split = lru_cache(maxsize=None)(self._split)

    def check(self) -> None:
        """Refuse unknown names before any data is opened, and data that can't be opened before any run is made."""
        read = {name for cell in self.grid.cells() for name in self._changes(cell)}
        for name in self.grid.changes:
            if name not in read:
                recipes = ", ".join(self.grid.recipes)
                raise SettingError(f"no recipe of the grid reads the setting {name!r} (recipes: {recipes})")
        for source in self.grid.datasets:
            if source not in DATASETS and not Path(source).exists():
                raise DataFileError(unknown("data set or path", Path(source).name, DATASETS))
            self.graph(source)

    def tasks(self, cell: Cell) -> list[Task]:
        """One per draw; draw d of every recipe has the same split and seed."""
        return [self._task(cell, number) for number in self.grid.numbers]

    def _task(self, cell: Cell, number: int) -> Task:
        graph = self.graph(cell.source)
        split, fingerprint = self.split(cell.source, cell.per_class, number)
        facts = resolved(cell.recipe, graph, split, self._changes(cell))
        return Task(
            source=cell.source,
            dataset=graph.name,
            per_class=cell.per_class,
            recipe=cell.recipe,
            pool=self.grid.pool,
            validation=self.grid.validation,
            draw=number,
            data_sha256=self.data_sha256(cell.source),
            split_sha256=fingerprint,
            cost=graph.num_entries * (1 + 2 * facts["settings"].get("stages", 0)),
            **facts,
        )

    def _changes(self, cell: Cell) -> dict[str, Any]:
        """The settings of the grid for this cell that its recipe reads."""
        return find_recipe(cell.recipe).readable(self.grid.changes_of(cell))

    def _split(self, source: str, per_class: int, number: int) -> tuple[Split, str]:
        graph, grid = self.graph(source), self.grid
        config = RunConfig(per_class=per_class, seed=number, pool=grid.pool, validation=grid.validation)
        split = config.make_split(graph)
        return split, split_fingerprint(graph, split)


def resolved(recipe: str, graph: Graph, split: Split, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a task that the recipe decides: settings, variant, version, and the digest of its source."""
    spec = find_recipe(recipe)
    settings, _ = resolve(recipe, graph, split, changes)
    usual = (resolve(recipe, graph, split, {})[0] if changes else settings).model_dump()
    changed = {name: value for name, value in settings.as_dict().items() if value != usual[name]}
    return {
        "settings": settings.as_dict(),
        "variant": variant_name(changed),
        "recipe_version": spec.version,
        "recipe_sha256": spec.source_sha256,
    }


def execute(task: Task, graph: Graph | None = None) -> Row:
    """The row of ``task``. An error becomes a row that describes it; nothing is raised."""
    try:
        run = task_run(task, graph)
        restart_peak()
        return {**blank(task), **_figures(run.execute())}
    except Exception as error:
        return failed(task, describe_error(error))


def execute_own(recipes: Mapping[str, RecipeSpec], task: Task) -> Row:
    """The row of ``task``, whose recipe may be one of ``recipes`` that only the caller knows."""
    with registered({name: spec for name, spec in recipes.items() if name not in recipe_names()}):
        return execute(task)


@cache
def warm_up() -> None:
    """A tiny run, once per process, so that late imports of torch are not part of the first run's seconds."""
    graph = block_model(60, 120, seed=0, classes=2, features=20, words=4)
    split = random_split(graph, per_class=3, val=6, test=6, seed=0)
    Run.of(graph, RunConfig(recipe="drgst-de", seed=0, settings={"epochs": 2, "samples": 2}), split).execute()


def blank(task: Task) -> Row:
    """The row of a run that has not started."""
    known = {name: getattr(task, name) for name in COLUMNS if hasattr(task, name)}
    row = {**dict.fromkeys(COLUMNS), **known, "settings": json.dumps(dict(task.settings))}
    return {**row, "created": datetime.now(UTC).isoformat(timespec="seconds")}


def failed(task: Task, error: str) -> Row:
    """The row of a run that failed."""
    return {**blank(task), "error": error}


def task_run(task: Task, graph: Graph | None = None) -> Run:
    """The run of ``task``; refused where data, labels or split are not those of the task."""
    graph = graph_of(task) if graph is None else graph
    same = ("recipe", "per_class", "seed", "pool", "validation", "settings")
    run = Run.of(graph, RunConfig(**{name: getattr(task, name) for name in same}, threads=1))
    if split_fingerprint(graph, run.config.make_split(graph)) != task.split_sha256:
        raise RunError(f"the labels or the split of {task.source} have changed since the bench started")
    return run.sharing(graph_cache(task.data_sha256))


def _figures(result: Result) -> Row:
    metrics = {name: None if value is None else round(value, 6) for name, value in result.metrics.items()}
    return {
        **metrics,
        "stages": len(result.history) - 1,
        "result_stage": result.stage.number,
        "epochs": result.epochs,
        "seconds": round(result.seconds, 4),
        "peak_memory_mb": result.peak_memory_mb,
        "stop_reason": result.history.stop_reason,
        "stage_rows": json.dumps(result.rows()),
    }


def graph_of(task: Task) -> Graph:
    """The graph of a task, opened once per process; refused where its contents have changed."""
    graph, found = _opened(task.source)
    if found != task.data_sha256:
        raise RunError(f"the contents of {task.source} have changed since the bench started")
    return graph


@lru_cache(maxsize=4)
def _opened(source: str) -> tuple[Graph, str]:
    graph = open_graph(source)
    return graph, data_fingerprint(graph)


@lru_cache(maxsize=1)
def graph_cache(_data_sha256: str) -> GraphCache:
    """What the runs of a worker on one graph share; released when it turns to another graph."""
    return GraphCache()


def describe_error(error: Exception) -> str:
    """``TrainingError: the loss is not a number``; for an error that is not drgst's own, also where it was raised."""
    words = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, DrgstError):
        return words
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{words} (at {place.filename}:{place.lineno})"
