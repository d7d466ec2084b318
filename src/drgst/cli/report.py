"""``drgst report``: the explorer page of a run, or the page of a bench."""

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
    run: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="The folder of a finished run.", show_default=False)
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Store of a bench (or its export) to show instead of a run.")
    ] = None,
    against: Annotated[str, typer.Option(help="With --store: recipe to compare with.")] = "gcn",
    out: Annotated[Path | None, typer.Option(help="HTML file to write.", show_default="RUN/report.html")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    data: Annotated[str | None, typer.Option(help="Where the run's graph is now.", show_default="where it was")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Make the page that shows what a run did: one HTML file that needs no network and can be mailed.

    It holds the summary, the map of the nodes with every stage, and what was trusted, weighed and corrected. With
    --store: every recipe of a bench on the same draws.
    """
    from drgst.errors import SettingError

    if (run is None) == (store is None):
        raise SettingError("name the folder of a run, or a store with --store: one of them, not both")
    page, goal = _bench(store, against) if store is not None else _run(Path(str(run)), root, data)
    goal = page.save(out or goal)
    people(json).print(_remark(page, goal), soft_wrap=True)
    if show:
        typer.launch(goal.absolute().as_uri())
    if json:
        emit({"out": str(goal), "bytes": goal.stat().st_size, **_sizes(page, run, store)})


def _run(run: Path, root: str | None, data: str | None) -> tuple[Page, Path]:
    from drgst.report.explorer.page import run_page
    from drgst.runs.folder import REPORT

    return run_page(run, root, data), run / REPORT


def _bench(store: Path, against: str) -> tuple[Page, Path]:
    from drgst.report.explorer.bench import bench_page

    return bench_page(store, against), store.with_suffix(".html")


def _sizes(page: Page, run: Path | None, store: Path | None) -> dict[str, object]:
    if store is not None:
        return {"store": str(store), "cells": len(page.data["cells"])}
    nodes = page.data["nodes"]
    return {"run": str(run), "nodes": nodes["total"], "shown": nodes["count"]}


def _remark(page: Page, goal: Path) -> str:
    size = f"{len(page.html) / 1e6:.1f} MB"
    return "\n".join([*page.data["sentences"], "", f"the page is {goal} ({size}): open it in a browser"])
