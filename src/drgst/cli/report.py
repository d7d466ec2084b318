"""``drgst report``: the explorer page of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import emit, get_console, working
from drgst.cli.options import JsonOption, RunArgument, option, out_file

app = typer.Typer(add_completion=False)


@app.command()
def report(
    run: RunArgument,
    out: Annotated[
        Path | None, option("FILE", "HTML file to write.", default="RUN/report.html", parser=out_file)
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    explain: Annotated[list[str] | None, option("NODE", "Explain this node on its card; repeatable.")] = None,
    data: Annotated[str | None, option("GRAPH", "Where the run's graph is now.")] = None,
    json: JsonOption = False,
) -> None:
    """Make the page of a run: one HTML file without external files, so that it can be mailed.

    It shows a summary, a map of the nodes at every stage, the pseudo-labels with their weights, and the correction.
    """
    from drgst.files import STANDARD_OUTPUT
    from drgst.report.page import run_page
    from drgst.runs.folder import REPORT

    with working("making the page: maps of the nodes at every stage, figures, suggestions"):
        page = run_page(run, None, data, explain or ())
    target = page.save(out or run / REPORT)
    written = f"written to {target} ({len(page.html) / 1e6:.1f} MB); open it in a browser"
    get_console(json or target == STANDARD_OUTPUT).print(
        "\n".join([*page.data["sentences"], "", written]), soft_wrap=True
    )
    if show:
        typer.launch(target.absolute().as_uri())
    if json:
        nodes = page.data["nodes"]
        facts = {"run": str(run), "nodes": nodes["total"], "shown": nodes["count"]}
        emit({"out": str(target), "bytes": len(page.html.encode()), **facts})
