"""What the commands print: tables of graphs, the bar of a download, and the report of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from drgst.cli.console import plain_table, say
from drgst.errors import RunError

if TYPE_CHECKING:
    from drgst.graph.core import Graph
    from drgst.graph.stats import Statistics
    from drgst.runs.result import Result
    from drgst.runs.run import Run

MOST_CLASSES = 25  # whose sizes are shown; CoraFull has 70 classes
FILES = (
    ("predictions", "every node: class, probability of each class, gain, stage, given label"),
    ("model.safetensors", "the model: drgst.load_model(folder)"),
    ("history.jsonl", "every stage: metrics, transition matrix, loss curves"),
    ("config.toml", "to run it again: drgst run --config"),
    ("summary.json", "these metrics"),
)


def dataset_table(rows: Sequence[dict[str, Any]]) -> Table:
    """One line per known data set."""
    table = plain_table("data set", "nodes", "edges", "features", "classes", "where", left=(0, 5))
    for row in rows:
        table.add_row(*(f"{v:,}" if isinstance(v, int) else Text(v) for v in row.values()))
    return table


def print_statistics(console: Console, graph: Graph, figures: Statistics) -> None:
    """The statistics, the sizes of the classes, the splits and what was changed on import."""
    table = plain_table(figures.name, "")
    for name in ("nodes", "edges", "features", "classes", "labelled", "isolated", "components"):
        table.add_row(name, f"{getattr(figures, name):,}")
    table.add_row("mean degree", f"{figures.mean_degree:.2f}")
    table.add_row("feature density", f"{figures.feature_density:.4f}")
    table.add_row("homophily", "unknown" if figures.homophily is None else f"{figures.homophily:.3f}")
    classes = plain_table("class", "labelled", "share")
    for name, count in list(figures.label_counts.items())[:MOST_CLASSES]:
        classes.add_row(Text(name), f"{count:,}", f"{count / max(figures.labelled, 1):.1%}")
    console.print(table)
    if classes.row_count:
        console.print(classes)
    more = figures.classes - MOST_CLASSES
    say(console, *([f"… and {more:,} more classes"] if more > 0 else []), *map(repr, graph.splits))
    say(console, *(f"note: {note}" for note in graph.notes))


@contextmanager
def progress_bar(console: Console, name: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar per downloaded file; yields the function that the downloader calls (file, bytes so far, bytes in all)."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TransferSpeedColumn  # slow to import

    columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        waiting = bars.add_task(name, total=None)

        def show(file: str, done: int, total: int) -> None:
            bars.update(waiting, visible=False)
            if file not in tasks:
                tasks[file] = bars.add_task(f"{name} {file}", total=total or None)
            bars.update(tasks[file], completed=done, total=total or None)

        yield show


def introduction(run: Run) -> str:
    """The data, the recipe and the split of a run, in two lines."""
    graph, split, config = run.graph, run.split, run.config
    sizes = f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {graph.num_classes} classes"
    among = f"{run.validation_trains:,} of them validation labels (--validation none hides these)"
    validation = among if run.validation_trains else f"{split.val.size:,} validation"
    parts = f"{split.train.size:,} training labels, {validation}, {split.test.size:,} test"
    pool = f"{split.pool.size:,} nodes may be pseudo-labelled"
    return f"{config.recipe} on {graph.name} ({sizes}), seed {config.seed}\n{parts}; {pool}"


def print_result(console: Console, result: Result) -> dict[str, Any]:
    """Print the stages, teacher against student, the stop reason and the files; the summary."""
    from shlex import quote

    from drgst.runs.folder import RunFolder

    summary, folder = result.summary(), RunFolder(result.folder)
    try:
        rows = result.rows()
        table, lines = stage_table(rows, summary["result_stage"]), _lines(rows, summary)
        if result.oof_words and summary["test_accuracy"] is None:
            lines.append(result.oof_words)
    except RunError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"summary.json or history.jsonl in {folder} is damaged: {error}") from error
    named = {"predictions": folder.predictions_path.name}
    files = [f"  {named.get(name, name):<18} {what}" for name, what in FILES]
    console.print(table)
    say(
        console,
        *lines,
        "",
        f"files in {folder}:",
        *files,
        f"nodes to label next: drgst suggest {quote(str(folder))} --out ask.csv",
    )
    return summary


def _lines(rows: Sequence[dict[str, Any]], summary: dict[str, Any]) -> list[str]:
    notes = [f"stage {row['stage']}: {row['note']}" for row in rows if row["note"] not in ("", summary["stop_reason"])]
    return [*notes, *conclusions(summary)]


def stage_table(rows: Sequence[dict[str, Any]], result: int) -> Table:
    """One line per stage, at most 80 characters wide, without the columns that are empty."""
    shown = [(title, key, how) for title, key, how in COLUMNS if any(row[key] is not None for row in rows)]
    shown = [column for column in shown if column[1] != "epochs" or any(row["epochs"] for row in rows)]
    table = Table("stage", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), collapse_padding=True, pad_edge=False)
    for title, _, _ in shown:
        table.add_column(title, justify="right")
    table.add_column("note")
    for row in rows:
        name = "teacher" if row["stage"] == 0 else str(row["stage"])
        note = "the result" if row["stage"] == result else "" if row["accepted"] else "rejected"
        table.add_row(name, *(_cell(row[key], how) for _, key, how in shown), note)
    return table


def conclusions(summary: dict[str, Any]) -> list[str]:
    """Teacher against student, the stop reason, and time and memory."""
    memory = f", peak memory {summary['peak_memory_mb']:,.0f} MB" if summary["peak_memory_mb"] else ""
    epochs = f", {summary['epochs']:,} epochs" if summary["epochs"] else ""  # a linear model has none
    return [
        *_teacher_against_student(summary),
        f"stopped: {summary['stop_reason']}",
        f"took {summary['seconds']:.1f} s{epochs}{memory}",
    ]


def _teacher_against_student(summary: dict[str, Any]) -> list[str]:
    """On test nodes, else on validation nodes; nothing where there are neither."""
    for part, name in (("test", "test"), ("val", "validation")):
        before, after = summary[f"teacher_{part}_accuracy"], summary[f"{part}_accuracy"]
        if after is None:
            continue
        if summary["result_stage"] == 0:
            return [f"{name} accuracy: {after:.1%} (the teacher; no student replaced it)"]
        return [f"{name} accuracy: teacher {before:.1%}, student {after:.1%} ({100 * (after - before):+.1f} points)"]
    return []


COLUMNS = (  # title, key of the row, format
    ("pseudo-\nlabelled", "pseudo_labelled", "{:,}"),
    ("precision", "precision", "{:.1%}"),
    ("validation", "val_accuracy", "{:.1%}"),
    ("test", "test_accuracy", "{:.1%}"),
    ("mean gain", "mean_gain", "{:#.2g}"),
    ("epochs", "epochs", "{:,}"),
)


def _cell(value: Any, how: str) -> str:
    return "" if value is None else how.format(value)
