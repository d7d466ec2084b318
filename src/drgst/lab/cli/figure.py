"""``drgst lab figure``: the paper's figures from the runs of a store, or from a run made for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import emit, get_console
from drgst.cli.options import JobsOption, JsonOption, RootOption, SetOption, SourceOption, VariantOption, out_folder

if TYPE_CHECKING:
    from drgst.lab.experiments import Experiment

app = typer.Typer(add_completion=False)


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="A figure, or list for their names.")],
    store: SourceOption = Path("runs.db"),
    out: Annotated[Path, typer.Option(parser=out_folder, metavar="FOLDER", help="Folder for NAME.FORMAT.")] = Path(
        "figures"
    ),
    how: Annotated[str, typer.Option("--format", help="png, pdf or svg.")] = "png",
    dataset: Annotated[
        str | None, typer.Option(help="Only this data set.", show_default="cora, or all of the store's")
    ] = None,
    per_class: Annotated[
        int | None, typer.Option(min=1, help="Labels per class of the run that is made.", show_default="the figure's")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run that is made.")] = 0,
    changes: SetOption = None,
    variant: VariantOption = "default",
    paper: Annotated[bool, typer.Option("--paper", help="Add the points that only the paper has.")] = False,
    run: Annotated[bool, typer.Option("--run", help="First make the runs that the store lacks.")] = False,
    draws: Annotated[int, typer.Option(min=1, help="With --run: draws per cell.")] = 3,
    jobs: JobsOption = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Draw a figure of the paper from what was run.

    confidence-gain, embedding-gain, toy and stages make the one run that they show; the others read the store.
    """
    if name == "list":
        _list(json)
        return
    from drgst.lab.experiments import Experiment, variant_name
    from drgst.lab.figures.registry import find_figure, make_figure
    from drgst.lab.figures.request import Request
    from drgst.lab.statistics.results import RunFilter
    from drgst.report.style import check_format, check_matplotlib, save
    from drgst.runs.config_file import parse_changes

    find_figure(name)
    check_format(how)
    check_matplotlib()
    settings = parse_changes(changes or [])
    failed = 0
    if run:
        labels = {} if per_class is None else {"per_class": (per_class,)}
        experiment = Experiment(datasets=(dataset or "cora",), draws=draws, changes=settings, root=root, **labels)
        failed = _run(name, experiment, store, jobs)
    shown = variant_name(settings) if variant == "default" else variant
    request = Request(store, RunFilter(shown), dataset, per_class, seed, settings, root, paper=paper)
    path = out / f"{name}.{how}"
    save(make_figure(name, request), path, how)
    get_console(json).print(f"{path}", soft_wrap=True)
    if json:
        emit({"figure": name, "out": str(path), "format": how, "failed": failed})
    if failed:
        raise typer.Exit(1)


def _list(json: bool) -> None:
    from drgst.lab.figures.registry import FIGURES

    for spec in FIGURES.values():
        source = "from the store" if spec.from_store else "makes its own run"
        get_console(json).print(f"{spec.name:<16}  {spec.summary} ({source})", soft_wrap=True)
    if json:
        emit([{"figure": s.name, "summary": s.summary, "from_store": s.from_store} for s in FIGURES.values()])


def _run(name: str, experiment: Experiment, store: Path, jobs: int | None) -> int:
    """Make what the store lacks; the number of runs that failed."""
    from drgst.lab.cli.output import print_result
    from drgst.lab.executors import Local
    from drgst.lab.figures.registry import grids_of
    from drgst.lab.grid.make_runs import bench
    from drgst.lab.progress import BenchProgress
    from drgst.lab.store import Store

    failed, console = 0, get_console(stderr=True)
    with Store(store, create=True) as opened, Local(jobs) as executor:
        for grid in grids_of(name, experiment):
            with BenchProgress(console, executor.slots) as progress:
                result = bench(grid, opened, executor, progress)
            print_result(console, result)
            failed += result.failed
    return failed
