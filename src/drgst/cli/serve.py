"""``drgst serve``: the workbench in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from drgst.cli.console import get_console, refuse, say, working
from drgst.cli.options import ColumnOption, EdgesOption, LinkOption, PriorOption, option, table_options

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    source: Annotated[str, typer.Argument(metavar="RUN|TABLE|GRAPH|FOLDER", help="What to work on.")],
    edges: EdgesOption = None,
    label: Annotated[str | None, option("COLUMN", "Column of classes in a node table.")] = None,
    columns: ColumnOption = None,
    links: LinkOption = None,
    prior: PriorOption = None,
    classes: Annotated[str | None, option("A,B,…", "Classes of a graph that has no label yet.")] = None,
    port: Annotated[int, option("N", "Port on this machine; 0: any free one.", min=0, max=65535)] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address; do not open a browser.")] = False,
) -> None:
    """Label, look and decide in the browser, with the model refitted while you work.

    RUN is the folder of a finished run, FOLDER one with several; TABLE is a node table, with or without labels. Every
    label is written to labels.csv at once: in the folder of the run, or in runs/NAME-workbench. Only this
    machine can reach the server, at the address that it prints. Ctrl-C stops it.
    """
    import logging

    from drgst.extras import import_extra
    from drgst.tables.faults import TableError

    for module in ("starlette", "uvicorn"):
        import_extra(module, "serve", "drgst serve")
    from drgst.report.serve.app import Workbench
    from drgst.report.serve.app import serve as start
    from drgst.report.serve.source import Given

    console = get_console()
    named = tuple(name.strip() for name in (classes or "").split(",") if name.strip())
    try:
        with working(f"opening {source}"):
            options = table_options(columns or (), links or ())
            repeated = {"--column": columns, "--link": links, "--prior": prior}
            words = [word for name, values in repeated.items() for value in values or () for word in (name, value)]
            workbench = Workbench(source, Given(edges or (), label, named, options, words, prior or ()))
    except TableError as error:
        refuse(error, False)

    def opened(address: str, _server: object) -> None:
        say(console, f"the workbench is at {address}", "Ctrl-C stops it; labels are saved")
        if not no_open:
            typer.launch(address)

    logging.getLogger("drgst").setLevel(logging.ERROR)  # the page shows warnings of each fit
    start(workbench, port, opened)
    say(
        console,
        *(f"{session.file.path}: {len(session.file.labels):,} labels" for session in workbench.sessions.values()),
    )
