"""Tables of graphs, and the bar of a download."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from drgst.graph.core import Graph
    from drgst.graph.stats import Statistics

BAR = 30  # characters of a full bar
MOST_CLASSES = 25  # bars shown; CoraFull has 70 classes


def dataset_table(rows: Sequence[dict[str, Any]]) -> Table:
    """One line per known data set."""
    table = Table("data set", "nodes", "edges", "features", "classes", "where")
    for column in table.columns[1:5]:
        column.justify = "right"
    for row in rows:
        table.add_row(*(f"{v:,}" if isinstance(v, int) else Text(v) for v in row.values()))
    return table


def print_statistics(console: Console, graph: Graph, figures: Statistics) -> None:
    """The statistics table, a homophily line, class bars, the splits and what was changed on import."""
    console.print(_figures_table(figures))
    homophily = figures.homophily
    known = "unknown: no edge has two labels" if homophily is None else f"{homophily:.3f} {_bar(console, homophily)}"
    console.print(f"homophily {known}")
    console.print(_class_table(console, figures))
    for split in graph.splits:
        console.print(repr(split))
    for note in graph.notes:
        console.print(f"note: {note}")


def _figures_table(figures: Statistics) -> Table:
    table = Table("statistic", "value", title=Text(figures.name))
    table.columns[1].justify = "right"
    for name in ("nodes", "edges", "features", "classes", "labelled", "isolated", "components"):
        table.add_row(name, f"{getattr(figures, name):,}")
    table.add_row("mean degree", f"{figures.mean_degree:.2f}")
    table.add_row("feature density", f"{figures.feature_density:.4f}")
    return table


def _class_table(console: Console, figures: Statistics) -> Table:
    table = Table(box=None, show_header=False)
    largest = max(figures.label_counts.values())
    shown = list(figures.label_counts.items())[:MOST_CLASSES]
    for name, count in shown:
        table.add_row(Text(name), f"{count:,}", _bar(console, count / largest))
    if len(shown) < figures.classes:
        table.add_row(f"… and {figures.classes - len(shown)} more", "", "")
    return table


def _bar(console: Console, share: float) -> str:
    """A bar of up to 30 blocks, in plain ASCII where the terminal has no others."""
    filled = round(share * BAR)
    full, empty = ("#", ".") if console.options.ascii_only else ("█", "░")
    return full * filled + empty * (BAR - filled)


@contextmanager
def progress_bar(console: Console, name: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar per downloaded file; yields the function that the downloader calls (file, bytes so far, bytes in all)."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        waiting = bars.add_task(name, total=None)

        def show(file: str, done: int, total: int) -> None:
            bars.update(waiting, visible=False)
            if file not in tasks:
                tasks[file] = bars.add_task(f"{name} {file}", total=total or None)
            bars.update(tasks[file], completed=done, total=total or None)

        yield show
