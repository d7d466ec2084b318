"""``drgst bench``: a grid of data sets, labels a class, recipes and draws, kept in a store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import JsonOption, RootOption, emit, people

if TYPE_CHECKING:
    from drgst.bench.bench import Report
    from drgst.bench.executors import Engine
    from drgst.bench.grid import Grid

app = typer.Typer(add_completion=False)
StoreOption = Annotated[Path, typer.Option(help="File that keeps the runs.")]


@app.callback(invoke_without_command=True)
def bench(
    context: typer.Context,
    datasets: Annotated[str, typer.Option(help="Names or paths, set apart by commas.")] = "cora",
    per_class: Annotated[str, typer.Option(help="Training labels a class, set apart by commas.")] = "3,5,10,20",
    recipes: Annotated[str, typer.Option(help="Methods, set apart by commas.")] = "gcn,drgst-do,drgst-de",
    draws: Annotated[int, typer.Option(help="Splits and seeds; every recipe sees the same ones.")] = 10,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes.", show_default="one a core")] = None,
    store: StoreOption = Path("runs.db"),
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of every run.")
    ] = None,
    preset: Annotated[list[Path] | None, typer.Option(help="Settings for the cell that the file names.")] = None,
    pool: Annotated[str, typer.Option(help="unlabelled, or all-but-validation.")] = "unlabelled",
    validation: Annotated[str, typer.Option(help="public, or none: only training labels are known.")] = "public",
    engine: Annotated[str, typer.Option(help="local, or ray.")] = "local",
    address: Annotated[str | None, typer.Option(help="Of the Ray cluster.", show_default="this machine's")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Run a grid and keep every run; what is in the store is not run again, so a killed bench goes on.

    Accuracies in the JSON line are fractions, 0 to 1; std is that of the draws (n - 1).
    """
    if context.invoked_subcommand is not None:
        return
    from drgst.bench.bench import bench as run_bench
    from drgst.bench.store import Store
    from drgst.cli.bench_view import BenchView, print_report

    grid = _grid(datasets, per_class, recipes, draws, changes or [], preset or [], pool, validation, root)
    worker = _engine(engine, jobs or os.cpu_count() or 1, address)
    view = BenchView(people(as_json=True), worker.slots)
    try:
        with Store(store, create=True) as opened, view:
            report = run_bench(grid, opened, worker, view)
    except KeyboardInterrupt:
        people(as_json=True).print(f"\ninterrupted; the runs that ended are kept in {store}; the same words go on")
        raise typer.Exit(130) from None
    print_report(people(json), report)
    _end(report, json)


@app.command()
def export(
    store: StoreOption = Path("runs.db"),
    csv: Annotated[Path | None, typer.Option(help="Write CSV here.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write Parquet here.")] = None,
) -> None:
    """Write all runs of a store as a table."""
    from drgst.bench.export import to_csv, to_parquet
    from drgst.bench.store import Store
    from drgst.errors import SettingError

    if csv is None and parquet is None:
        raise SettingError("say where to: --csv FILE or --parquet FILE")
    with Store(store) as opened:
        rows = opened.all_rows()
    for path, write in ((csv, to_csv), (parquet, to_parquet)):
        if path is not None:
            write(rows, path)
            people().print(f"{len(rows):,} runs in {path}", soft_wrap=True)


@app.command()
def rescue(
    damaged: Annotated[Path, typer.Argument(help="A damaged store, or an exported .csv or .parquet.")],
    store: StoreOption = Path("runs.db"),
) -> None:
    """Bring the runs that can be read from a damaged store, or from an export, into a store."""
    from drgst.bench.export import readable_rows
    from drgst.bench.store import Store

    rows = readable_rows(damaged)
    with Store(store, create=True) as opened:
        for row in rows:
            opened.add(row)
    people().print(f"{len(rows):,} runs of {damaged} are now in {store}", soft_wrap=True)


def _grid(
    datasets: str,
    per_class: str,
    recipes: str,
    draws: int,
    changes: list[str],
    presets: list[Path],
    pool: str,
    validation: str,
    root: str | None,
) -> Grid:
    from drgst.bench.grid import Grid

    settings, read = {}, []
    if changes or presets:
        from drgst.runs.config_file import parse_changes, read_config

        settings, read = parse_changes(changes), [read_config(path) for path in presets]
    return Grid(_words(datasets), _numbers(per_class), _words(recipes), draws, settings, read, pool, validation, root)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str) -> list[int]:
    from drgst.errors import SettingError

    try:
        return [int(word) for word in _words(text)]
    except ValueError:
        raise SettingError(f"--per-class takes whole numbers set apart by commas, not {text!r}") from None


def _engine(name: str, jobs: int, address: str | None) -> Engine:
    from drgst.bench.executors import Local
    from drgst.errors import SettingError, unknown

    if name == "local":
        return Local(jobs)
    if name == "ray":
        from drgst.bench.ray_executor import RayEngine

        return RayEngine(address)
    raise SettingError(unknown("engine", name, ("local", "ray")))


def _end(report: Report, json: bool) -> None:
    if json:
        emit(report.document())
    if report.failed:
        raise typer.Exit(1)
