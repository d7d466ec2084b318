"""What a bench shows while it works, and at its end."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from drgst.bench.bench import Report, Watcher
from drgst.bench.cells import mean_and_std
from drgst.bench.task import Task

SHOWN = 8  # cells of the live table
CellName = tuple[str, int, str]


class BenchView(Watcher):
    """Cells done, time left and running means: a live table on a terminal, a line a finished cell elsewhere."""

    def __init__(self, console: Console, slots: int) -> None:
        self.console, self.slots = console, slots
        self.live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self.left: dict[CellName, int] = {}
        self.accuracies: dict[CellName, list[float | None]] = {}
        self.cells, self.runs, self.made, self.failed = 0, 0, 0, 0
        self.cost_left, self.cost_made, self.seconds_made = 0.0, 0.0, 0.0

    def __enter__(self) -> BenchView:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def begin(self, reused: int, tasks: list[Task]) -> None:
        """Say what will be done."""
        for task in tasks:
            self.left[_cell(task)] = self.left.get(_cell(task), 0) + 1
        self.cells, self.runs = len(self.left), len(tasks)
        self.cost_left = sum(task.cost for task in tasks)
        self.console.print(f"{reused:,} runs are in the store; {self.runs:,} in {self.cells:,} cells to run")

    def done(self, task: Task, row: dict[str, Any]) -> None:
        """Count it; a cell whose last draw it was gets its line."""
        cell = _cell(task)
        self.left[cell] -= 1
        self.made, self.cost_left = self.made + 1, self.cost_left - task.cost
        if row["error"] is not None:
            self.failed += 1
            where = f"{task.dataset} {task.per_class} {task.recipe} draw {task.draw}"
            self.console.print(f"failed: {where}: {row['error']}", soft_wrap=True)
        else:
            self.accuracies.setdefault(cell, []).append(row["test_accuracy"])
            self.cost_made, self.seconds_made = self.cost_made + task.cost, self.seconds_made + row["seconds"]
        if not self.left[cell] and self.live is None:
            self.console.print(f"{_line(cell, self.accuracies.get(cell, []))}  ({self.state()})", soft_wrap=True)
        self.tick()

    def tick(self) -> None:
        """Refresh the live table."""
        if self.live is not None:
            recent = list(self.accuracies.items())[-SHOWN:]
            lines = [Text(_line(cell, values)) for cell, values in recent]
            self.live.update(Group(*lines, Text(self.state())), refresh=True)

    def state(self) -> str:
        """``12 of 40 runs, 3 of 10 cells, 2 failed, 5 min left``."""
        ended = sum(1 for count in self.left.values() if not count)
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.made:,} of {self.runs:,} runs, {ended:,} of {self.cells:,} cells{failed}{self._time_left()}"

    def _time_left(self) -> str:
        if not self.cost_made or not self.cost_left:
            return ""
        seconds = self.cost_left * self.seconds_made / self.cost_made / self.slots
        return f", about {duration(seconds)} left"


def print_report(console: Console, report: Report) -> None:
    """The means, what failed, and how much was done."""
    if report.cells:
        console.print(_table(report))
    for row in report.failures:
        where = f"{row['dataset']} {row['per_class']} {row['recipe']} draw {row['draw']}"
        console.print(f"failed: {where}: {row['error']}", soft_wrap=True)
    done = f"ran {report.ran:,}, reused {report.reused:,}, failed {report.failed:,}"
    console.print(f"{done} in {duration(report.seconds)}")


def duration(seconds: float) -> str:
    """``4 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _table(report: Report) -> Table:
    table = Table("data set", "labels", "recipe", "draws", "test accuracy", "std", "s a run", box=box.SIMPLE_HEAD)
    for column in (table.columns[1], *table.columns[3:]):
        column.justify = "right"
    for cell in report.cells:
        figures = (_percent(cell["mean"]), _percent(cell["std"]), f"{cell['seconds']:.1f}")
        table.add_row(cell["dataset"], str(cell["per_class"]), cell["recipe"], str(cell["draws"]), *figures)
    return table


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


def _cell(task: Task) -> CellName:
    return task.dataset, task.per_class, task.recipe


def _line(cell: CellName, values: list[float | None]) -> str:
    mean, std = mean_and_std(values)
    shown = "" if mean is None else f"{100 * mean:.2f}" + ("" if std is None else f" ± {100 * std:.2f}")
    return f"{cell[0]} {cell[1]} {cell[2]}: {shown} ({len(values)} draws)"
