"""``drgst lab reproduce``: the paper's experiments, and the verdict on each of its claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import get_console, interruptible
from drgst.cli.options import JobsOption, out_folder

app = typer.Typer(add_completion=False)


@app.command()
def reproduce(
    full: Annotated[
        bool, typer.Option("--full/--quick", help="All experiments, many hours; or Cora with few draws.")
    ] = False,
    out: Annotated[
        Path, typer.Option(parser=out_folder, metavar="FOLDER", help="Folder for tables, figures and the page.")
    ] = Path("reproduction"),
    store: Annotated[Path | None, typer.Option(help="File that keeps the runs.", show_default="OUT/runs.db")] = None,
    draws: Annotated[int | None, typer.Option(min=1, help="Draws per cell.", show_default="quick 3, full 10")] = None,
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Make the runs that the store lacks, or show what it holds.")
    ] = True,
    jobs: JobsOption = None,
) -> None:
    """Run the paper's experiments and write tables, figures and a page with the verdict on each claim.

    A run that is in the store is not repeated: the same command continues an interrupted reproduction. The verdicts
    are also in OUT/claims.json.
    """
    from drgst.lab.grid.executors import Local
    from drgst.lab.grid.grid import Grid
    from drgst.lab.grid.run_grid import BenchResult, run_grid
    from drgst.lab.progress import BenchProgress
    from drgst.lab.reproduction import FULL, QUICK
    from drgst.lab.reproduction import reproduce as run_reproduction
    from drgst.lab.store import Store

    scale = FULL if full else QUICK
    scale = scale if draws is None else replace(scale, draws=draws)
    runs, console = store or out / "runs.db", get_console()
    with interruptible(f"the finished runs are kept in {runs}"), Local(jobs) as executor:

        def make(grid: Grid, opened: Store) -> BenchResult:
            with BenchProgress(get_console(stderr=True)) as progress:
                return run_grid(grid, opened, executor, progress)

        if not run:
            get_console(stderr=True).print("training the networks of figures and claims (drgst -v names each step)")
        made = run_reproduction(scale, out, runs, make if run else None)
    for claim in made.claims:
        console.print(f"{claim.verdict:<17}  {claim.title}", soft_wrap=True)
    for line in (*made.notes, f"the page is {made.page}: open it in a browser"):
        console.print(line, soft_wrap=True)
    if made.failed:
        raise typer.Exit(1)
