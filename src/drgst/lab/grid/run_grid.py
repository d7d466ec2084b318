"""The bench: make the runs of a grid that the store lacks."""

from __future__ import annotations

import subprocess
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drgst import __version__
from drgst.lab.grid.execute import Expander
from drgst.lab.grid.executors import Executor
from drgst.lab.grid.grid import Grid, Task
from drgst.lab.store import Store
from drgst.lab.store.cells import CellName, Runs, grouped
from drgst.lab.store.schema import canonical
from drgst.runs.config_file import versions

TICK = 0.5  # seconds to wait for a run to end before the display is refreshed


class BenchCallback:
    """Receives the events of a bench; this one does nothing."""

    def begin(self, reused: int, tasks: list[Task]) -> None:
        """``reused`` runs are in the store; ``tasks`` will be made."""

    def done(self, task: Task, row: dict[str, Any]) -> None:
        """A run has ended, with or without an error."""

    def tick(self) -> None:
        """Half a second has passed, or a run has ended."""


@dataclass
class BenchResult:
    """What a bench did: the runs of each cell, and the rows of runs that failed."""

    cells: dict[CellName, Runs] = field(default_factory=dict)
    ran: int = 0
    reused: int = 0
    seconds: float = 0.0
    failures: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)  # of all runs of the grid

    @property
    def failed(self) -> int:
        """The number of runs that failed."""
        return len(self.failures)

    def document(self) -> dict[str, Any]:
        """For ``--json``: accuracies as fractions."""
        cells = []
        for (dataset, per_class, recipe), runs in self.cells.items():
            mean, std = runs.mean("test_accuracy")
            names = {"dataset": dataset, "per_class": per_class, "recipe": recipe}
            cells.append({**names, "draws": len(runs.rows), "mean": mean, "std": std})
        counts = {"ran": self.ran, "reused": self.reused, "failed": self.failed}
        return {"cells": cells, **counts, "seconds": round(self.seconds, 3)}


def run_grid(grid: Grid, store: Store, executor: Executor, callback: BenchCallback | None = None) -> BenchResult:
    """Make every run of ``grid`` that is not in ``store``, quick ones first; a run that failed before is tried again.

    ``executor`` stays open for the next bench.
    """
    began = time.perf_counter()
    expander = Expander(grid)
    expander.check()
    tasks = [task for cell in grid.cells() for task in expander.tasks(cell)]
    result = make_runs(tasks, store, executor, callback)
    rows = store.rows(result.keys, ("dataset", "per_class", "recipe", "draw", "test_accuracy", "seconds"))
    result.cells = dict(sorted(grouped(rows).items()))
    result.seconds = time.perf_counter() - began
    return result


def make_runs(
    tasks: Sequence[Task], store: Store, executor: Executor, callback: BenchCallback | None = None
) -> BenchResult:
    """Make the runs of ``tasks`` that the store lacks."""
    began, callback = time.perf_counter(), callback or BenchCallback()
    keys = list(dict.fromkeys(task.key for task in tasks))
    finished = store.finished(keys)
    todo = [task for task in tasks if task.key not in finished]
    todo.sort(key=lambda t: (t.cost, t.source, t.per_class, t.recipe))
    callback.begin(len(finished), todo)
    result = BenchResult(reused=len(finished), keys=keys)
    if todo:
        _run(todo, store, executor, callback, result)
    columns = ("key", "dataset", "per_class", "recipe", "draw", "error")
    result.failures = store.rows(keys, columns, failed=True)
    result.seconds = time.perf_counter() - began
    return result


def _run(todo: list[Task], store: Store, executor: Executor, callback: BenchCallback, result: BenchResult) -> None:
    stamp = {"versions": canonical(versions()), "code": code_version()}
    waiting, running = deque(todo), 0
    while waiting or running:
        while waiting and running < executor.slots:
            task = waiting.popleft()
            if store.finished([task.key]):  # another bench was quicker
                result.reused += 1
            else:
                executor.submit(task)
                running += 1
        for task, row in executor.wait(TICK) if running else ():
            store.add({**row, **stamp})
            running, result.ran = running - 1, result.ran + 1
            callback.done(task, row)
        callback.tick()


def code_version() -> str:
    """``0.1.0`` or, in a git checkout, ``0.1.0+56a1a76``."""
    try:
        _git("ls-files", "--error-unmatch", Path(__file__).name)  # not where drgst is installed in another repository
        return f"{__version__}+{_git('rev-parse', '--short', 'HEAD')}"
    except (OSError, subprocess.SubprocessError):
        return __version__


def _git(*words: str) -> str:
    command = ["git", "-C", str(Path(__file__).parent), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
