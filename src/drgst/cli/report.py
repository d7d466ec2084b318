"""``drgst report``: the explorer page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import JsonOption, RootOption, emit, people

if TYPE_CHECKING:
    from drgst.report.explorer.page import Page

app = typer.Typer(add_completion=False)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")],
    out: Annotated[Path | None, typer.Option(help="HTML file to write.", show_default="RUN/report.html")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    data: Annotated[str | None, typer.Option(help="Where the run's graph is now.", show_default="where it was")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Make the page that shows what a run did: one HTML file that needs no network and can be mailed.

    It holds the summary, the map of the nodes with every stage, and what was trusted, weighed and corrected.
    """
    from drgst.evaluate.runfolder import REPORT
    from drgst.report.explorer.page import run_page

    goal = out or run / REPORT
    page = run_page(run, root, data)
    page.save(goal)
    people(json).print(_remark(page, goal), soft_wrap=True)
    if show:
        typer.launch(goal.absolute().as_uri())
    if json:
        nodes = page.data["nodes"]
        emit(
            {
                "run": str(run),
                "out": str(goal),
                "bytes": goal.stat().st_size,
                "nodes": nodes["total"],
                "shown": nodes["count"],
            }
        )


def _remark(page: Page, goal: Path) -> str:
    size = f"{len(page.html) / 1e6:.1f} MB"
    return "\n".join([*page.data["sentences"], "", f"the page is {goal} ({size}): open it in a browser"])
