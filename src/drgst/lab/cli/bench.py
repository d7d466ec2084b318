"""``drgst lab bench``: a grid of data sets, labels per class, recipes and draws, kept in a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import emit, get_console, interruptible
from drgst.cli.options import JobsOption, JsonOption, SetOption, StoreOption, out_file, own_recipe

app = typer.Typer(add_completion=False)


@app.callback(invoke_without_command=True)
def bench(
    context: typer.Context,
    datasets: Annotated[str, typer.Option(help="Names or paths, separated by commas.")] = "cora",
    per_class: Annotated[str, typer.Option(help="Training labels per class, separated by commas.")] = "3,5,10,20",
    recipes: Annotated[
        str, typer.Option(parser=own_recipe, metavar="NAMES", help="Methods, separated by commas.")
    ] = "gcn,drgst-do,drgst-de",
    draws: Annotated[str, typer.Option(help="Number of splits and seeds, or a range such as 100-104.")] = "10",
    jobs: JobsOption = None,
    store: StoreOption = Path("runs.db"),
    changes: SetOption = None,
    preset: Annotated[list[Path] | None, typer.Option(help="Settings for the cell that the file names.")] = None,
    validation: Annotated[str, typer.Option(help="public, none, or labels per class to draw, such as 30.")] = "public",
    executor: Annotated[str, typer.Option(help="local, ray, or ray@HOST:PORT: a Ray cluster.")] = "local",
    json: JsonOption = False,
) -> None:
    """Run a grid and keep every run. A run that is in the store is not made again, so the command can be repeated.

    Accuracies in the JSON line are fractions, 0 to 1; std is that of the draws (n - 1).
    """
    if context.invoked_subcommand is not None:
        return
    from drgst.lab.grid.executors import make_executor
    from drgst.lab.grid.grid import Grid
    from drgst.lab.grid.run_grid import run_grid
    from drgst.lab.progress import BenchProgress, print_result
    from drgst.lab.store import Store

    settings, presets = {}, []
    if changes or preset:
        from drgst.runs.config_file import parse_changes, read_config

        settings = parse_changes(changes or [], also=("pool",))
        presets = [read_config(path) for path in preset or []]
    pool = settings.pop("pool", "unlabelled")
    labels, numbers = _numbers("--per-class", per_class), _draws(draws)
    grid = Grid(words(datasets), labels, words(recipes), numbers, settings, presets, pool, validation)
    with (
        interruptible(f"the finished runs are kept in {store}"),
        make_executor(executor, jobs) as worker,
        Store(store, create=True) as opened,
        BenchProgress(get_console(stderr=True)) as progress,
    ):
        result = run_grid(grid, opened, worker, progress)
    print_result(get_console(json), result)
    if json:
        emit(result.document())
    if result.failed:
        raise typer.Exit(1)


@app.command()
def export(
    out: Annotated[Path, typer.Argument(parser=out_file, metavar="FILE", help="FILE.csv, or - for standard output.")],
    store: StoreOption = Path("runs.db"),
) -> None:
    """Write all runs of a store as CSV."""
    from drgst.files import STANDARD_OUTPUT
    from drgst.lab.store import Store
    from drgst.lab.store.export import to_csv

    with Store(store) as opened:
        rows = opened.all_rows()
    to_csv(rows, out)
    get_console(out == STANDARD_OUTPUT).print(f"{len(rows):,} runs in {out}", soft_wrap=True)


@app.command()
def rescue(
    damaged: Annotated[Path, typer.Argument(help="A damaged store, or an exported .csv.")],
    store: StoreOption = Path("runs.db"),
) -> None:
    """Copy the runs that can be read from a damaged store, or from an export, into a store."""
    from drgst.lab.store import Store
    from drgst.lab.store.export import readable_rows

    rows = readable_rows(damaged)
    with Store(store, create=True) as opened, opened.transaction():
        for row in rows:
            opened.add(row)
    get_console().print(f"{len(rows):,} runs of {damaged} are now in {store}", soft_wrap=True)


def words(text: str) -> list[str]:
    """The words of a list that is separated by commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(option: str, text: str) -> list[int]:
    from drgst.errors import SettingError

    try:
        return [int(word) for word in words(text)]
    except ValueError:
        raise SettingError(f"{option} takes whole numbers separated by commas, not {text!r}") from None


def _draws(text: str) -> range:
    """``10`` -> 0 to 9, ``100-104`` -> 100 to 104."""
    from drgst.errors import SettingError

    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() if dash else True)):
        raise SettingError(f"--draws takes a number of draws or a range such as 100-104, not {text!r}")
    return range(int(first), int(last) + 1) if dash else range(int(first))
