"""What a bench shows while it runs, and at its end."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from drgst.bench.bench import BenchCallback, BenchResult
from drgst.bench.statistics.cells import mean_and_std
from drgst.bench.task import Task
from drgst.cli.output.live import LiveDisplay

SHOWN = 8  # cells of the live table
CellName = tuple[str, int, str]


class BenchProgress(LiveDisplay, BenchCallback):
    """Cells done, time left and running means: a live table on a terminal, one line per finished cell elsewhere."""

    def __init__(self, console: Console, slots: int) -> None:
        super().__init__(console)
        self.slots = slots
        self.tasks: list[Task] = []
        self.ended: list[tuple[Task, dict[str, Any]]] = []
        self.left: Counter[CellName] = Counter()  # cell -> runs to make
        self.accuracies: dict[CellName, list[float | None]] = {}

    def begin(self, reused: int, tasks: list[Task]) -> None:
        """Print what will be done."""
        self.tasks, self.left = tasks, Counter(map(_cell, tasks))
        self.console.print(f"{reused:,} runs are in the store; {len(tasks):,} in {len(self.left):,} cells to run")

    def done(self, task: Task, row: dict[str, Any]) -> None:
        """Count it; a cell whose last draw it was gets its line."""
        cell = _cell(task)
        self.left[cell] -= 1
        self.ended.append((task, row))
        if row["error"] is None:
            self.accuracies.setdefault(cell, []).append(row["test_accuracy"])
        else:
            self.console.print(_failure(row), soft_wrap=True)
        if not self.left[cell] and self.live is None:
            self.console.print(f"{_line(cell, self.accuracies.get(cell, []))}  ({self.state()})", soft_wrap=True)

    def tick(self) -> None:
        """Refresh the live table."""
        recent = list(self.accuracies.items())[-SHOWN:]
        self.update(Group(*(Text(_line(cell, values)) for cell, values in recent), Text(self.state())))

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


def print_result(console: Console, result: BenchResult) -> None:
    """The means, what failed, and how much was done."""
    if result.cells:
        console.print(_table(result))
    for row in result.failures:
        console.print(_failure(row), soft_wrap=True)
    done = f"ran {result.ran:,}, reused {result.reused:,}, failed {result.failed:,}"
    console.print(f"{done} in {duration(result.seconds)}")


def duration(seconds: float) -> str:
    """``4 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _table(result: BenchResult) -> Table:
    titles = ("data set", "labels", "recipe", "draws", "test accuracy", "std", "s per run")
    table = Table(*titles, box=box.SIMPLE_HEAD)
    for column in (table.columns[1], *table.columns[3:]):
        column.justify = "right"
    for cell in result.cells:
        figures = (_percent(cell["mean"]), _percent(cell["std"]), f"{cell['seconds']:.1f}")
        table.add_row(cell["dataset"], str(cell["per_class"]), cell["recipe"], str(cell["draws"]), *figures)
    return table


def _failure(row: dict[str, Any]) -> str:
    return f"failed: {row['dataset']} {row['per_class']} {row['recipe']} draw {row['draw']}: {row['error']}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


def _cell(task: Task) -> CellName:
    return task.dataset, task.per_class, task.recipe


def _line(cell: CellName, values: list[float | None]) -> str:
    mean, std = map(_percent, mean_and_std(values))
    return f"{cell[0]} {cell[1]} {cell[2]}: {mean}{f' ± {std}' if std else ''} ({len(values)} draws)"
