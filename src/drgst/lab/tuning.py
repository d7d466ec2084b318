"""Tuning: the settings of highest mean validation accuracy over draws, out of the grid in the paper's appendix."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np

from drgst.errors import RunError, SettingError
from drgst.lab.grid.execute import Expander, Row, blank, describe_error, failed, task_run
from drgst.lab.grid.executors import Executor
from drgst.lab.grid.grid import Grid, Task
from drgst.lab.grid.run_grid import BenchCallback, make_runs
from drgst.lab.paper import variant_name
from drgst.lab.store import Store
from drgst.lab.store.cells import TRIAL
from drgst.lab.store.schema import canonical
from drgst.recipes.registry import resolve

BETAS = (4 / 3, 1.0, 2 / 3, 1 / 2, 1 / 3, 1 / 4)
RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
THRESHOLDS = {  # of each data set
    "cora": tuple(round(0.40 + 0.05 * i, 2) for i in range(8)),
    "citeseer": tuple(round(0.40 + 0.05 * i, 2) for i in range(8)),
    "pubmed": tuple(round(0.60 + 0.05 * i, 2) for i in range(7)),
    "corafull": tuple(round(0.60 + 0.05 * i, 2) for i in range(7)),
    "flickr": tuple(round(0.75 + 0.03 * i, 2) for i in range(8)),
}
OTHERS = tuple(round(0.40 + 0.05 * i, 2) for i in range(11))  # a graph that is not in the paper


@dataclass(frozen=True)
class Tuned:
    """The best ``settings``, their mean validation accuracy, and that of the recipe's own settings."""

    settings: dict[str, Any]
    value: float
    default_value: float | None
    trials: int


@dataclass(frozen=True)
class TrialTask(Task):
    """One draw of a trial: a run from which the labels of test nodes are hidden, also by its metrics."""

    @property
    def key(self) -> str:
        """SHA-256 that no run with test figures has."""
        return hashlib.sha256(canonical([super().key, TRIAL]).encode()).hexdigest()

    @property
    def title(self) -> str:
        """The recipe with the settings of the trial."""
        return f"{self.recipe} ({self.variant})"


def execute_trial(task: Task) -> Row:
    """The row of a :class:`TrialTask`, with the validation accuracy alone; an error becomes a row that describes it."""
    try:
        run = task_run(task)
        result = replace(run, graph=run.problem.graph).execute()
        return {**blank(task), "val_accuracy": result.metrics["val_accuracy"], "seconds": round(result.seconds, 4)}
    except Exception as error:
        return failed(task, describe_error(error))


def tune(grid: Grid, trials: int, store: Store, executor: Executor, callback: BenchCallback | None = None) -> Tuned:
    """The best of ``trials`` settings of the one cell of ``grid``: the recipe's own, then a random part of the space.

    The same call makes the same trials, and those that the store has are not made again, so more trials continue it.
    """
    (cell,) = tuple(grid.cells())
    expander = Expander(grid)
    expander.check()
    tasks = expander.tasks(cell)
    graph, (split, _) = expander.graph(cell.source), expander.split(cell.source, cell.per_class, grid.numbers[0])
    if not split.val.size:
        raise SettingError("tuning needs validation nodes, and the split has none")
    settings, recipe = resolve(cell.recipe, graph, split, grid.changes)
    read = set(settings.names) - set(grid.changes) - (set() if "gain" in recipe.requires else {"drop_rate"})
    space = {name: values for name, values in papers_space(graph.name).items() if name in read}
    if not space:
        raise SettingError("there is nothing to tune: the recipe reads none of threshold, beta and drop_rate")
    own = {name: value for name, value in settings.as_dict().items() if name in space}
    drawn = [own, *list(_drawn(space))[: trials - 1]]
    names = ["own settings", *map(variant_name, drawn[1:])]
    made = [
        [_trial(task, expander, {**grid.changes, **trial}, name) for task in tasks]
        for trial, name in zip(drawn, names, strict=True)
    ]
    result = make_runs([task for each in made for task in each], store, executor, callback)
    found = {row["key"]: row["val_accuracy"] for row in store.rows(result.keys, ("key", "val_accuracy"))}
    means = {k: _mean(each, found) for k, each in enumerate(made) if all(task.key in found for task in each)}
    if not means:
        raise RunError(f"no trial was completed: {result.failures[0]['error']}")
    best = max(means, key=lambda k: (means[k], -k))
    return Tuned({**grid.changes, **drawn[best]}, means[best], means.get(0), len(means))


def papers_space(dataset: str) -> dict[str, tuple[float, ...]]:
    """τ, β and drop rate as in the appendix, τ by data set."""
    return {"threshold": THRESHOLDS.get(dataset, OTHERS), "beta": BETAS, "drop_rate": RATES}


def _drawn(space: dict[str, tuple[float, ...]]) -> Iterator[dict[str, Any]]:
    """All settings of the space in a random order, which is always the same."""
    every = list(product(*space.values()))
    for place in np.random.default_rng(0).permutation(len(every)):
        yield dict(zip(space, every[place], strict=True))


def _trial(task: Task, expander: Expander, changes: dict[str, Any], name: str) -> TrialTask:
    split, _ = expander.split(task.source, task.per_class, task.draw)
    settings, _ = resolve(task.recipe, expander.graph(task.source), split, changes)
    facts = {field.name: getattr(task, field.name) for field in fields(task)}
    return TrialTask(**{**facts, "settings": settings.as_dict(), "variant": f"{TRIAL} {name}"})


def _mean(tasks: Sequence[Task], found: dict[str, float]) -> float:
    return sum(found[task.key] for task in tasks) / len(tasks)
