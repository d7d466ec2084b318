"""What a bench shows while it runs, and at its end."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from rich.console import Console

from drgst.lab.grid.grid import Task
from drgst.lab.grid.run_grid import BenchCallback, BenchResult
from drgst.lab.store.cells import CellName, mean_and_std
from drgst.lab.tables.layout import Column, Entry, ResultTable, render
from drgst.progress.live import LiveDisplay, SafeConsole

SLOW = 2.0  # seconds from which a finished run is printed where there is no live line


class BenchProgress(LiveDisplay, BenchCallback):
    """A line per finished cell and, on a terminal, a live line with counts and the time left; elsewhere slow runs."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.tasks: list[Task] = []
        self.rows: dict[CellName, list[dict[str, Any]]] = {}
        self.left: Counter[CellName] = Counter()  # cell -> runs to make
        self.done_cost, self.began = 0.0, time.monotonic()

    def begin(self, reused: int, tasks: list[Task]) -> None:
        self.tasks, self.left, self.began = tasks, Counter(map(_cell, tasks)), time.monotonic()
        self.console.print(f"{reused:,} runs are in the store; {len(tasks):,} in {len(self.left):,} cells to run")

    def done(self, task: Task, row: dict[str, Any]) -> None:
        """Count a run; print the line of its cell after the last draw."""
        cell, figure = _cell(task), _accuracy(row)
        self.left[cell] -= 1
        self.done_cost += task.cost
        self.rows.setdefault(cell, []).append(row)
        if row["error"] is not None:
            self.console.print(failure(row), soft_wrap=True)
        if not self.left[cell]:
            values = [_accuracy(other) for other in self.rows[cell] if other["error"] is None]
            self.console.print(f"{_line(cell, values)}  ({self.state()})", soft_wrap=True)
        elif row["error"] is None and not self.live and row["seconds"] >= SLOW:
            words = f"{cell[0]} {cell[1]} {cell[2]} draw {task.draw}: {percent(figure)}"
            self.console.print(f"{words}  ({self.state()})", soft_wrap=True)

    def tick(self) -> None:
        self.update(self.state())

    def state(self) -> str:
        """``12 of 40 runs, 3 of 10 cells, 2 failed, about 5 min left``."""
        ended = [row for rows in self.rows.values() for row in rows]
        failed = sum(row["error"] is not None for row in ended)
        parts = [
            f"{len(ended):,} of {len(self.tasks):,} runs",
            f"{sum(not count for count in self.left.values()):,} of {len(self.left):,} cells",
            *([f"{failed:,} failed"] if failed else []),
        ]
        if self.done_cost and len(ended) < len(self.tasks):
            share = sum(task.cost for task in self.tasks) / self.done_cost - 1
            parts.append(f"about {duration(share * (time.monotonic() - self.began))} left")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """``4 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def failure(row: dict[str, Any]) -> str:
    return f"failed: {row['dataset']} {row['per_class']} {row['recipe']} draw {row['draw']}: {row['error']}"


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


def _accuracy(row: dict[str, Any]) -> float | None:
    """On test nodes; on validation nodes of a trial of settings, which has no other."""
    return row["val_accuracy"] if row["test_accuracy"] is None else row["test_accuracy"]


def _cell(task: Task) -> CellName:
    return task.dataset, task.per_class, task.title


def _line(cell: CellName, values: list[float | None]) -> str:
    mean, std = map(percent, mean_and_std(values))
    return f"{cell[0]} {cell[1]} {cell[2]}: {mean}{f' ± {std}' if std else ''} ({len(values)} draws)"


def bench_display(wanted: bool | None) -> BenchProgress:
    """No display (False), one in any case (True), or one on a terminal and in a notebook only (None)."""
    console = SafeConsole()
    shown = console.is_terminal or console.is_jupyter if wanted is None else wanted
    return BenchProgress(console if shown else SafeConsole(quiet=True))


def print_result(console: Console, result: BenchResult) -> None:
    """Print the mean of each cell, the runs that failed, and the number of runs."""
    if result.cells:
        console.print(render(_summary(result), "text"), soft_wrap=True)
    for row in result.failures:
        console.print(failure(row), soft_wrap=True)
    done = f"ran {result.ran:,}, reused {result.reused:,}, failed {result.failed:,}"
    console.print(f"{done} in {duration(result.seconds)}")


def _summary(result: BenchResult) -> ResultTable:
    titles = ("labels per class", "recipe", "draws", "test accuracy", "std", "s per run")
    columns = [Column("data set", True), *(Column(title, title == "recipe") for title in titles)]
    rows = []
    for (dataset, per_class, recipe), runs in result.cells.items():
        seconds = runs.mean("seconds")[0] or 0.0
        figures = (*map(percent, runs.mean("test_accuracy")), f"{seconds:.1f}")
        rows.append([Entry(text) for text in (dataset, str(per_class), recipe, str(len(runs.rows)), *figures)])
    return ResultTable("Test accuracy in percent", columns, rows)
