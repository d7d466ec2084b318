"""``drgst lab figure``: the paper's figures from the runs of a store, or from a run made for them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import get_console
from drgst.cli.options import SetOption, SourceOption

app = typer.Typer(add_completion=False)


@app.command()
def figure(
    name: Annotated[str, typer.Argument(help="A figure, or list for their names.")],
    store: SourceOption = Path("runs.db"),
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file, .png, .pdf or .svg.", show_default="figures/NAME.png")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Only this data set.", show_default="cora, or all of the store's")
    ] = None,
    per_class: Annotated[
        int | None, typer.Option(min=1, help="Labels per class of the run that is made.", show_default="the figure's")
    ] = None,
    changes: SetOption = None,
) -> None:
    """Draw a figure of the paper from what was run.

    confidence-gain, embedding-gain, toy and stages make the one run that they show; the others read the store.
    """
    from drgst.lab.figures.registry import FIGURES, Request, find_figure, make_figure
    from drgst.lab.paper import variant_name
    from drgst.lab.store.cells import RunFilter
    from drgst.report.style import check_picture, save
    from drgst.runs.config_file import parse_changes

    console = get_console()
    if name == "list":
        for spec in FIGURES.values():
            source = "from the store" if spec.from_store else "makes its own run"
            console.print(f"{spec.name:<16}  {spec.summary} ({source})", soft_wrap=True)
        return
    find_figure(name)
    path = out or Path("figures") / f"{name}.png"
    check_picture(path)
    settings = parse_changes(changes or [])
    request = Request(store, RunFilter(variant_name(settings)), dataset, per_class, changes=settings)
    save(make_figure(name, request), path)
    console.print(f"{path}", soft_wrap=True)
