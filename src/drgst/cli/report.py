"""``drgst report``: the page of a run."""

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
    json: JsonOption = False,
) -> None:
    """Make the page of a run: one HTML file without external files, so that it can be mailed.

    It shows what was found, a map and a table of the nodes, a threshold to decide by, doubtful labels, and what the
    run did. drgst serve RUN shows the same and lets you label.
    """
    from drgst.files import STANDARD_OUTPUT
    from drgst.report.page import run_page
    from drgst.runs.folder import REPORT

    with working("making the page: maps of the nodes at every stage, figures, suggestions"):
        page = run_page(run)
    target = page.save(out or run / REPORT)
    written = f"written to {target} ({len(page.html) / 1e6:.1f} MB); open it in a browser"
    get_console(json or target == STANDARD_OUTPUT).print(
        "\n".join([*page.data["model"]["sentences"], "", written]), soft_wrap=True
    )
    if show:
        typer.launch(target.absolute().as_uri())
    if json:
        nodes = page.data["nodes"]
        facts = {"run": str(run), "nodes": nodes["total"], "shown": nodes["count"]}
        emit({"out": str(target), "bytes": len(page.html.encode()), **facts})
