"""The bench: run what is not in the store yet, survive whatever happens, say what came out."""

from __future__ import annotations

import subprocess
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drgst.bench.cells import CELL, summarise
from drgst.bench.executors import Engine
from drgst.bench.grid import Cell, Grid
from drgst.bench.key_cache import KeyCache
from drgst.bench.leases import Claims
from drgst.bench.store import Store
from drgst.bench.task import Task, canonical

TICK = 0.5  # seconds between two looks around while nothing ends


class Watcher:
    """Told what happens in a bench; does nothing by itself."""

    def begin(self, reused: int, tasks: list[Task]) -> None:
        """So many runs are there already; these will be made."""

    def done(self, task: Task, row: dict[str, Any]) -> None:
        """A run has ended, well or not."""

    def tick(self) -> None:
        """Half a second has gone by."""


@dataclass
class Report:
    """What a bench did: ``cells`` as fractions; ``failures`` the rows of runs that failed."""

    cells: list[dict[str, Any]] = field(default_factory=list)
    ran: int = 0
    reused: int = 0
    failed: int = 0
    seconds: float = 0.0
    failures: list[dict[str, Any]] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        names = (*CELL, "draws", "mean", "std")
        cells = [{name: cell[name] for name in names} for cell in self.cells]
        told = {"ran": self.ran, "reused": self.reused, "failed": self.failed, "seconds": round(self.seconds, 3)}
        return {"cells": cells, **told}


def bench(grid: Grid, store: Store, engine: Engine, watcher: Watcher | None = None) -> Report:
    """Run every run of ``grid`` that is not in ``store``, quick ones first; a run that failed before is tried again."""
    began, watcher = time.perf_counter(), watcher or Watcher()
    report = Report()
    try:
        keys, tasks = _plan(grid, store, engine)
        finished = store.finished(keys)
        report.reused = len(finished)
        todo = [task for task in tasks if task.key not in finished]
        todo.sort(key=lambda t: (t.cost, t.source, t.per_class, t.recipe))
        watcher.begin(len(finished), todo)
        _carry_out(todo, store, engine, watcher, report)
    finally:
        engine.close()
    report.failures = store.errors(keys)
    report.cells = _cells(store, keys)
    report.failed = len(report.failures)
    report.seconds = time.perf_counter() - began
    return report


def _plan(grid: Grid, store: Store, engine: Engine) -> tuple[list[str], list[Task]]:
    """The keys of the whole grid, and the tasks of the cells that are not known to be finished."""
    memo = KeyCache(store, grid)
    known = {cell: memo.keys(cell) for cell in grid.cells()}
    keys = list(dict.fromkeys(key for found in known.values() for key in found or []))
    finished = store.finished(keys)
    missing = [cell for cell, found in known.items() if found is None or not finished.issuperset(found)]
    engine.start(grid.draws * len(missing))
    tasks = _expand(grid, missing, memo) if missing else []
    return list(dict.fromkeys([*keys, *(task.key for task in tasks)])), tasks


def _expand(grid: Grid, cells: list[Cell], memo: KeyCache) -> list[Task]:
    from drgst.bench.expand import Expander  # imports torch

    expander = Expander(grid)
    expander.check()
    tasks = []
    for cell in cells:
        found = expander.tasks(cell)
        memo.keep(cell, [task.key for task in found])
        tasks += found
    return tasks


def _carry_out(todo: list[Task], store: Store, engine: Engine, watcher: Watcher, report: Report) -> None:
    if not todo:
        return
    from drgst.runs.config_file import versions  # imports torch

    stamp = {"versions": canonical(versions()), "code": code_version()}
    claims, waiting, running = Claims(store), deque(todo), 0
    try:
        while waiting or running:
            for _ in range(len(waiting)):
                if running >= engine.slots:
                    break
                task = waiting.popleft()
                if store.finished([task.key]):  # another bench was quicker
                    report.reused += 1
                elif claims.take(task.key):
                    engine.submit(task)
                    running += 1
                else:
                    waiting.append(task)
            for task, row in engine.wait(TICK) if running else _pause():
                store.add({**row, **stamp})
                claims.give_back(task.key)
                running, report.ran = running - 1, report.ran + 1
                watcher.done(task, row)
            claims.beat()
            watcher.tick()
    finally:
        claims.give_back()


def _pause() -> list[Any]:
    """Another bench has claimed all that is left."""
    time.sleep(TICK)
    return []


def _cells(store: Store, keys: list[str]) -> list[dict[str, Any]]:
    rows = store.rows(keys, (*CELL, "test_accuracy", "seconds"))
    return sorted(summarise(rows).values(), key=lambda cell: tuple(cell[name] for name in CELL))


def code_version() -> str:
    """``0.1.0`` or, in a git checkout, ``0.1.0+56a1a76``."""
    from drgst import __version__

    home = Path(__file__).parent
    try:
        _git(home, "ls-files", "--error-unmatch", Path(__file__).name)  # installed in somebody else's repository: no
        return f"{__version__}+{_git(home, 'rev-parse', '--short', 'HEAD')}"
    except (OSError, subprocess.SubprocessError):
        return __version__


def _git(home: Path, *words: str) -> str:
    asked = ["git", "-C", str(home), *words]
    return subprocess.run(asked, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
