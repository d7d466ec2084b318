"""What a bench shows while it runs, and at its end."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from drgst.lab.grid.make_runs import BenchResult
from drgst.lab.progress import duration, failure, percent

SHOWN = 8  # cells of the live table
CellName = tuple[str, int, str]


def print_result(console: Console, result: BenchResult) -> None:
    """The means, what failed, and how much was done."""
    if result.cells:
        console.print(_table(result))
    for row in result.failures:
        console.print(failure(row), soft_wrap=True)
    done = f"ran {result.ran:,}, reused {result.reused:,}, failed {result.failed:,}"
    console.print(f"{done} in {duration(result.seconds)}")


def _table(result: BenchResult) -> Table:
    titles = ("data set", "labels", "recipe", "draws", "test accuracy", "std", "s per run")
    table = Table(*titles, box=box.SIMPLE_HEAD)
    for column in (table.columns[1], *table.columns[3:]):
        column.justify = "right"
    for cell in result.cells:
        figures = (percent(cell["mean"]), percent(cell["std"]), f"{cell['seconds']:.1f}")
        table.add_row(cell["dataset"], str(cell["per_class"]), cell["recipe"], str(cell["draws"]), *figures)
    return table
