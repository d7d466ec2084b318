"""``drgst figure``: the paper's figures from the runs of a store, or from a run made for them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import JsonOption, RootOption, emit, people

if TYPE_CHECKING:
    from drgst.report.experiments import Experiment

app = typer.Typer(add_completion=False)


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="A figure, or list: what there is.")],
    store: Annotated[Path, typer.Option(help="Store of runs, or its export (.csv, .parquet).")] = Path("runs.db"),
    out: Annotated[Path, typer.Option(help="Folder for NAME.FORMAT.")] = Path("figures"),
    how: Annotated[str, typer.Option("--format", help="png, pdf or svg.")] = "png",
    dataset: Annotated[
        str | None, typer.Option(help="Only this data set.", show_default="cora, or all of the store's")
    ] = None,
    per_class: Annotated[
        int | None, typer.Option(min=1, help="Labels per class of the run that is made.", show_default="the figure's")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the run that is made.")] = 0,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of runs that are made.")
    ] = None,
    variant: Annotated[
        str, typer.Option(help="Settings of the store's runs: default, validation, or such as threshold=0.4.")
    ] = "default",
    paper: Annotated[bool, typer.Option("--paper", help="Add the points that only the paper has.")] = False,
    run: Annotated[bool, typer.Option("--run", help="First make the runs that the store lacks.")] = False,
    draws: Annotated[int, typer.Option(min=1, help="With --run: draws per cell.")] = 3,
    jobs: Annotated[int | None, typer.Option(min=1, help="With --run: processes.", show_default="one a core")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Draw a figure of the paper from what was run.

    confidence-gain, embedding-gain, toy and stages make the one run that they show; the others read the store.
    """
    if name == "list":
        _list(json)
        return
    from drgst.bench.results import Wanted
    from drgst.report.experiments import Experiment, variant_name
    from drgst.report.figures.registry import find_figure, make_figure
    from drgst.report.figures.request import Request
    from drgst.report.figures.style import check_format, check_matplotlib, save
    from drgst.runs.config_file import parse_changes

    find_figure(name)
    check_format(how)
    check_matplotlib()
    settings = parse_changes(changes or [])
    failed = 0
    if run:
        labels = {} if per_class is None else {"per_class": (per_class,)}
        experiment = Experiment(datasets=(dataset or "cora",), draws=draws, changes=settings, root=root, **labels)
        failed = _run(name, experiment, store, jobs or os.cpu_count() or 1)
    shown = variant_name(settings) if variant == "default" else variant
    request = Request(store, Wanted(shown), dataset, per_class, seed, settings, root, paper=paper)
    path = out / f"{name}.{how}"
    save(make_figure(name, request), path, how)
    people(json).print(f"{path}", soft_wrap=True)
    if json:
        emit({"figure": name, "out": str(path), "format": how, "failed": failed})
    if failed:
        raise typer.Exit(1)


def _list(json: bool) -> None:
    from drgst.report.figures.registry import FIGURES

    for spec in FIGURES.values():
        source = "from the store" if spec.from_store else "makes its own run"
        people(json).print(f"{spec.name:<16}  {spec.summary} ({source})", soft_wrap=True)
    if json:
        emit([{"figure": s.name, "summary": s.summary, "from_store": s.from_store} for s in FIGURES.values()])


def _run(name: str, experiment: Experiment, store: Path, jobs: int) -> int:
    """Make what the store lacks; the number of runs that failed."""
    from drgst.bench.bench import bench
    from drgst.bench.executors import Local
    from drgst.bench.persistent_pool import PersistentPool
    from drgst.bench.store import Store
    from drgst.cli.bench_view import BenchView, print_report
    from drgst.report.figures.registry import grids_of

    failed = 0
    with Store(store, create=True) as opened, PersistentPool(Local(jobs)) as worker:
        for grid in grids_of(name, experiment):
            with BenchView(people(as_json=True), worker.slots) as view:
                report = bench(grid, opened, worker, view)
            print_report(people(as_json=True), report)
            failed += report.failed
    return failed
