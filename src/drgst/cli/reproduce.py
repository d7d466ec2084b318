"""``drgst reproduce``: the paper's experiments, and which of its claims held."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import JsonOption, RootOption, emit, people

if TYPE_CHECKING:
    from drgst.report.reproduction.run import Reproduction

app = typer.Typer(add_completion=False)


@app.command()
def reproduce(
    full: Annotated[
        bool, typer.Option("--full/--quick", help="Everything, many hours; or Cora with few draws.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for tables, figures and the page.")] = Path("reproduction"),
    store: Annotated[Path | None, typer.Option(help="File that keeps the runs.", show_default="OUT/runs.db")] = None,
    draws: Annotated[int | None, typer.Option(min=1, help="Draws a cell.", show_default="quick 3, full 10")] = None,
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Make runs that the store lacks, or show it as is.")
    ] = True,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes.", show_default="one a core")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Run the paper's experiments and write tables, figures and a page with each claim and whether it held.

    What is in the store is not run again: a killed reproduction goes on with the same words.
    """
    from drgst.bench.executors import Local
    from drgst.cli.bench_view import BenchView
    from drgst.report.reproduction.run import reproduce as execute_run
    from drgst.report.reproduction.scale import FULL, QUICK

    scale = replace(FULL if full else QUICK, root=root)
    scale = scale if draws is None else replace(scale, draws=draws)
    workers = jobs or os.cpu_count() or 1
    kept = store or out / "runs.db"
    try:
        made = execute_run(scale, out, kept, Local(workers), lambda e: BenchView(people(as_json=True), e.slots), run)
    except KeyboardInterrupt:
        people(as_json=True).print(f"\ninterrupted; the runs that ended are kept in {kept}; the same words go on")
        raise typer.Exit(130) from None
    _show(made, json)
    if made.failed:
        raise typer.Exit(1)


def _show(made: Reproduction, json: bool) -> None:
    console = people(json)
    for claim in made.claims:
        console.print(f"{claim.verdict:<13}  {claim.title}", soft_wrap=True)
    for note in made.notes:
        console.print(note, soft_wrap=True)
    console.print(f"the page is {made.page}: open it in a browser", soft_wrap=True)
    if json:
        told = [{"title": claim.title, "verdict": claim.verdict} for claim in made.claims]
        emit({"claims": told, "runs": made.runs, "failed": made.failed, "page": str(made.page)})
