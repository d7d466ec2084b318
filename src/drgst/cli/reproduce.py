"""``drgst reproduce``: the paper's experiments, and the verdict on each of its claims."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import JsonOption, RootOption, emit, people

if TYPE_CHECKING:
    from drgst.report.reproduction.page import Reproduction

app = typer.Typer(add_completion=False)


@app.command()
def reproduce(
    full: Annotated[
        bool, typer.Option("--full/--quick", help="Everything, many hours; or Cora with few draws.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and the page.")] = Path("reproduction"),
    store: Annotated[Path | None, typer.Option(help="File that keeps the runs.", show_default="OUT/runs.db")] = None,
    draws: Annotated[int | None, typer.Option(min=1, help="Draws per cell.", show_default="quick 3, full 10")] = None,
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Make the runs that the store lacks, or show what it holds.")
    ] = True,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes.", show_default="one per core")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Run the paper's experiments and write tables, figures and a page with the verdict on each claim.

    A run that is in the store is not repeated: the same command continues an interrupted reproduction.
    """
    from drgst.bench.bench import Report, bench
    from drgst.bench.executors import Local
    from drgst.bench.grid import Grid
    from drgst.bench.persistent_pool import PersistentPool
    from drgst.bench.store import Store
    from drgst.cli.bench_view import BenchView
    from drgst.report.reproduction.run import reproduce as run_reproduction
    from drgst.report.reproduction.scale import FULL, QUICK

    scale = replace(FULL if full else QUICK, root=root)
    scale = scale if draws is None else replace(scale, draws=draws)
    kept = store or out / "runs.db"
    try:
        with PersistentPool(Local(jobs or os.cpu_count() or 1)) as worker:

            def run_grid(grid: Grid, opened: Store) -> Report:
                with BenchView(people(as_json=True), worker.slots) as view:
                    return bench(grid, opened, worker, view)

            made = run_reproduction(scale, out, kept, run_grid if run else None)
    except KeyboardInterrupt:
        people(as_json=True).print(f"\ninterrupted; the finished runs are kept in {kept}; the same command continues")
        raise typer.Exit(130) from None
    _show(made, json)
    if made.failed:
        raise typer.Exit(1)


def _show(made: Reproduction, json: bool) -> None:
    console = people(json)
    for claim in made.claims:
        console.print(f"{claim.verdict:<17}  {claim.title}", soft_wrap=True)
    for note in made.notes:
        console.print(note, soft_wrap=True)
    console.print(f"the page is {made.page}: open it in a browser", soft_wrap=True)
    if json:
        claims = [{"title": claim.title, "verdict": claim.verdict} for claim in made.claims]
        emit({"claims": claims, "runs": made.runs, "failed": made.failed, "page": str(made.page)})
