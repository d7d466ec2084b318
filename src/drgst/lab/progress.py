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

SHOWN = 8  # cells of the live table
QUIET = 2.0  # seconds without a line after which a finished run is printed where there is no live table


class BenchProgress(LiveDisplay, BenchCallback):
    """Finished cells, time left and running means: a live table on a terminal.

    Elsewhere one line per finished cell, and one per run if nothing was printed for two seconds.
    """

    def __init__(self, console: Console, slots: int) -> None:
        super().__init__(console)
        self.slots = slots
        self.tasks: list[Task] = []
        self.ended: list[tuple[Task, dict[str, Any]]] = []
        self.left: Counter[CellName] = Counter()  # cell -> runs to make
        self.accuracies: dict[CellName, list[float | None]] = {}
        self.printed = time.monotonic()

    def begin(self, reused: int, tasks: list[Task]) -> None:
        """Print what will be done."""
        self.tasks, self.left = tasks, Counter(map(_cell, tasks))
        self.console.print(f"{reused:,} runs are in the store; {len(tasks):,} in {len(self.left):,} cells to run")

    def done(self, task: Task, row: dict[str, Any]) -> None:
        """Count a run; print the line of its cell after the last draw."""
        cell = _cell(task)
        self.left[cell] -= 1
        self.ended.append((task, row))
        if row["error"] is None:
            self.accuracies.setdefault(cell, []).append(row["test_accuracy"])
        else:
            self.console.print(failure(row), soft_wrap=True)
        if self.live:
            return
        if not self.left[cell]:
            self._print(_line(cell, self.accuracies.get(cell, [])))
        elif row["error"] is None and time.monotonic() >= self.printed + QUIET:
            self._print(f"{cell[0]} {cell[1]} {cell[2]} draw {task.draw}: {percent(row['test_accuracy'])}")

    def _print(self, line: str) -> None:
        self.console.print(f"{line}  ({self.state()})", soft_wrap=True)
        self.printed = time.monotonic()

    def tick(self) -> None:
        """Refresh the live table."""
        recent = list(self.accuracies.items())[-SHOWN:]
        self.update("\n".join([*(_line(cell, values) for cell, values in recent), self.state()]))

    def state(self) -> str:
        """``12 of 40 runs, 3 of 10 cells, 2 failed, about 5 min left``."""
        good = [(task.cost, row["seconds"]) for task, row in self.ended if row["error"] is None]
        failed = len(self.ended) - len(good)
        parts = [
            f"{len(self.ended):,} of {len(self.tasks):,} runs",
            f"{sum(not count for count in self.left.values()):,} of {len(self.left):,} cells",
            *([f"{failed:,} failed"] if failed else []),
        ]
        if good and len(self.ended) < len(self.tasks):
            cost, seconds = map(sum, zip(*good, strict=True))
            cost_left = sum(task.cost for task in self.tasks) - sum(task.cost for task, _ in self.ended)
            parts.append(f"about {duration(cost_left * seconds / cost / self.slots)} left")
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


def _cell(task: Task) -> CellName:
    return task.dataset, task.per_class, task.title


def _line(cell: CellName, values: list[float | None]) -> str:
    mean, std = map(percent, mean_and_std(values))
    return f"{cell[0]} {cell[1]} {cell[2]}: {mean}{f' ± {std}' if std else ''} ({len(values)} draws)"


def bench_display(wanted: bool | None, slots: int) -> BenchProgress:
    """No display (False), one in any case (True), or one on a terminal and in a notebook only (None)."""
    console = SafeConsole()
    shown = console.is_terminal or console.is_jupyter if wanted is None else wanted
    return BenchProgress(console if shown else SafeConsole(quiet=True), slots)


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
