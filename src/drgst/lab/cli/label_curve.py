"""``drgst lab label-curve``: how accuracy grows with labels that a chooser asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import emit, get_console, interruptible
from drgst.cli.options import JobsOption, JsonOption, RecipeOption, SetOption, StoreOption

app = typer.Typer(add_completion=False)


@app.command()
def label_curve(
    data: Annotated[str, typer.Argument(metavar="NAME|PATH", help="A data set or the file of a graph.")] = "cora",
    recipe: RecipeOption = "drgst-plus",
    start: Annotated[int, typer.Option(min=0, help="Labels per class at the start; 0: no labels at all.")] = 3,
    budget: Annotated[int, typer.Option(min=1, help="Labels that are asked for.")] = 100,
    batch: Annotated[int, typer.Option(min=1, help="Labels per batch; after each the recipe is fitted.")] = 10,
    by: Annotated[
        str, typer.Option(help="Choosers, separated by commas; suggest is the recipe's own, list shows all.")
    ] = "suggest,random",
    draws: Annotated[int, typer.Option(min=1, help="Number of starts and seeds; the same for every chooser.")] = 5,
    changes: SetOption = None,
    store: StoreOption = Path("runs.db"),
    jobs: JobsOption = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the curves: .png, .pdf or .svg.")] = None,
    json: JsonOption = False,
) -> None:
    """Reveal labels batch by batch as each chooser asks for them, refit, and compare how accuracy grows.

    Labels are asked of nodes that are neither validation nor test nodes. Each curve is kept in the store and not made
    again, so the command can be repeated. Differences from random are paired by draw; p is that of the signed ranks.
    """
    from drgst.lab.cli.bench import words
    from drgst.lab.label_curves import curve_executor, make_curves
    from drgst.lab.progress import BenchProgress, failure
    from drgst.lab.simulate import CURVE_CHOOSERS, Plan
    from drgst.lab.store import Store
    from drgst.report.style import check_picture, save
    from drgst.runs.config_file import parse_changes

    console = get_console(json)
    if by == "list":
        for spec in CURVE_CHOOSERS.values():
            console.print(f"{spec.name:<18} {spec.summary}", soft_wrap=True)
        return
    if figure is not None:
        check_picture(figure)
    plan = Plan(data, recipe, start, budget, batch, words(by), draws, changes=parse_changes(changes or []))
    with (
        interruptible(f"the finished curves are kept in {store}"),
        curve_executor(jobs) as executor,
        Store(store, create=True) as opened,
        BenchProgress(get_console(stderr=True)) as progress,
    ):
        curves = make_curves(plan, opened, executor, progress)
    if curves.groups:
        console.print(curves.table(), soft_wrap=True, end="")
    for row in curves.failures:
        console.print(failure(row), soft_wrap=True)
    console.print(f"ran {curves.ran:,}, reused {curves.reused:,}, failed {len(curves.failures):,}")
    if figure is not None and curves.groups:
        save(curves.plot(), figure)
        console.print(f"written to {figure}", soft_wrap=True)
    if json:
        emit({"dataset": curves.dataset, "recipe": plan.recipe, "choosers": curves.summary()})
    if curves.failures:
        raise typer.Exit(1)
