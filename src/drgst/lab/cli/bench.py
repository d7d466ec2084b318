"""``drgst lab bench``: a grid of data sets, labels per class, recipes and draws, kept in a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import emit, get_console, interruptible
from drgst.cli.options import (
    JobsOption,
    JsonOption,
    PoolOption,
    RootOption,
    SetOption,
    StoreOption,
    out_file,
    own_recipe,
)

if TYPE_CHECKING:
    from drgst.lab.executors import Executor

app = typer.Typer(add_completion=False)


@app.callback(invoke_without_command=True)
def bench(
    context: typer.Context,
    datasets: Annotated[str, typer.Option(help="Names or paths, separated by commas.")] = "cora",
    per_class: Annotated[str, typer.Option(help="Training labels per class, separated by commas.")] = "3,5,10,20",
    recipes: Annotated[
        str, typer.Option(parser=own_recipe, metavar="NAMES", help="Methods, separated by commas.")
    ] = "gcn,drgst-do,drgst-de",
    draws: Annotated[int, typer.Option(help="Number of splits and seeds; the same for every recipe.")] = 10,
    jobs: JobsOption = None,
    store: StoreOption = Path("runs.db"),
    changes: SetOption = None,
    preset: Annotated[list[Path] | None, typer.Option(help="Settings for the cell that the file names.")] = None,
    pool: PoolOption = "unlabelled",
    validation: Annotated[str, typer.Option(help="public, or none: only training labels are known.")] = "public",
    executor: Annotated[str, typer.Option(help="local, or ray.")] = "local",
    engine: Annotated[str | None, typer.Option(hidden=True, help="Former name of --executor.")] = None,
    address: Annotated[str | None, typer.Option(help="Of the Ray cluster.", show_default="this machine's")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Run a grid and keep every run. A run that is in the store is not made again, so the command can be repeated.

    Accuracies in the JSON line are fractions, 0 to 1; std is that of the draws (n - 1).
    """
    if context.invoked_subcommand is not None:
        return
    from drgst.lab.cli.output import print_result
    from drgst.lab.grid.grid import Grid
    from drgst.lab.grid.make_runs import bench as run_bench
    from drgst.lab.progress import BenchProgress
    from drgst.lab.store import Store

    settings, presets = {}, []
    if changes or preset:
        from drgst.runs.config_file import parse_changes, read_config

        settings, presets = parse_changes(changes or []), [read_config(path) for path in preset or []]
    cells = _words(datasets), _numbers(per_class), _words(recipes)
    grid = Grid(*cells, draws, settings, presets, pool, validation, root)
    with (
        interruptible(f"the finished runs are kept in {store}"),
        _executor(engine or executor, jobs, address) as worker,
        Store(store, create=True) as opened,
        BenchProgress(get_console(stderr=True), worker.slots) as progress,
    ):
        result = run_bench(grid, opened, worker, progress)
    print_result(get_console(json), result)
    if json:
        emit(result.document())
    if result.failed:
        raise typer.Exit(1)


@app.command()
def export(
    store: StoreOption = Path("runs.db"),
    csv: Annotated[Path | None, typer.Option(parser=out_file, metavar="FILE", help="Write CSV here.")] = None,
    parquet: Annotated[Path | None, typer.Option(parser=out_file, metavar="FILE", help="Write Parquet here.")] = None,
) -> None:
    """Write all runs of a store as a table."""
    from drgst.errors import SettingError
    from drgst.files import STANDARD_OUTPUT
    from drgst.lab.store import Store
    from drgst.lab.store.export import to_csv, to_parquet

    if csv is None and parquet is None:
        raise SettingError("nothing to write: give --csv FILE or --parquet FILE")
    with Store(store) as opened:
        rows = opened.all_rows()
    for path, write in ((csv, to_csv), (parquet, to_parquet)):
        if path is not None:
            write(rows, path)
            get_console(path == STANDARD_OUTPUT).print(f"{len(rows):,} runs in {path}", soft_wrap=True)


@app.command()
def rescue(
    damaged: Annotated[Path, typer.Argument(help="A damaged store, or an exported .csv or .parquet.")],
    store: StoreOption = Path("runs.db"),
) -> None:
    """Copy the runs that can be read from a damaged store, or from an export, into a store."""
    from drgst.lab.store import Store
    from drgst.lab.store.export import readable_rows

    rows = readable_rows(damaged)
    with Store(store, create=True) as opened:
        for row in rows:
            opened.add(row)
    get_console().print(f"{len(rows):,} runs of {damaged} are now in {store}", soft_wrap=True)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str) -> list[int]:
    from drgst.errors import SettingError

    try:
        return [int(word) for word in _words(text)]
    except ValueError:
        raise SettingError(f"--per-class takes whole numbers separated by commas, not {text!r}") from None


def _executor(name: str, jobs: int | None, address: str | None) -> Executor:
    from drgst.errors import SettingError, unknown
    from drgst.lab.executors import Local

    if name == "local":
        return Local(jobs)
    if name == "ray":
        from drgst.lab.executors.ray import RayExecutor

        return RayExecutor(address)
    raise SettingError(unknown("executor", name, ("local", "ray")))
