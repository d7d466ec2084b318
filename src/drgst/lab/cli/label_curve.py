"""``drgst lab label-curve``: how accuracy grows with labels that a chooser asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import emit, get_console, interruptible
from drgst.cli.options import JobsOption, JsonOption, RootOption, SetOption, StoreOption, out_file, own_recipe

app = typer.Typer(add_completion=False)


@app.command()
def label_curve(
    data: Annotated[str, typer.Argument(metavar="NAME|PATH", help="A data set or the file of a graph.")] = "cora",
    recipe: Annotated[str, typer.Option(parser=own_recipe, metavar="NAME", help="The method.")] = "drgst-plus",
    start: Annotated[int, typer.Option(min=0, help="Labels per class at the start; 0: no labels at all.")] = 3,
    budget: Annotated[int, typer.Option(min=1, help="Labels that are asked for.")] = 100,
    batch: Annotated[int, typer.Option(min=1, help="Labels per batch; after each the recipe is fitted.")] = 10,
    by: Annotated[
        str, typer.Option(help="Choosers, separated by commas; suggest is the recipe's own, list shows all.")
    ] = "suggest,random",
    draws: Annotated[int, typer.Option(min=1, help="Number of starts and seeds; the same for every chooser.")] = 5,
    first_draw: Annotated[int, typer.Option(min=0, help="Number of the first draw.")] = 0,
    validation: Annotated[
        str | None,
        typer.Option(
            help="public, or none: no validation labels.", show_default="none where the recipe trains on them"
        ),
    ] = None,
    judge: Annotated[str, typer.Option(help="Whose labels measure the accuracy: test, or validation nodes.")] = "test",
    changes: SetOption = None,
    store: StoreOption = Path("runs.db"),
    jobs: JobsOption = None,
    figure: Annotated[
        Path | None, typer.Option(parser=out_file, metavar="FILE", help="Draw the curves: .png, .pdf or .svg.")
    ] = None,
    how: Annotated[str, typer.Option("--format", help="Of the table: text, md, latex, html or csv.")] = "text",
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Reveal labels batch by batch as each chooser asks for them, refit, and compare how accuracy grows.

    Labels are asked of nodes that are neither validation nor test nodes. Each curve is kept in the store and not made
    again, so the command can be repeated. Differences from random are paired by draw; p is that of the signed ranks.
    """
    from drgst.errors import SettingError, unknown
    from drgst.lab.curves.choosers import CURVE_CHOOSERS
    from drgst.lab.curves.label_curves import curve_executor, make_curves
    from drgst.lab.curves.plan import Plan
    from drgst.lab.progress import BenchProgress, failure
    from drgst.lab.store import Store
    from drgst.lab.tables.table import FORMATS
    from drgst.runs.config_file import parse_changes

    if by == "list":
        for spec in CURVE_CHOOSERS.values():
            get_console(json).print(f"{spec.name:<18} {spec.summary}", soft_wrap=True)
        return
    if how not in FORMATS:
        raise SettingError(unknown("format", how, FORMATS))
    choosers = [word.strip() for word in by.split(",") if word.strip()]
    settings = parse_changes(changes or [])
    plan = Plan(data, recipe, start, budget, batch, choosers, draws, first_draw, validation, judge, settings, root)
    picture = None if figure is None else _picture(figure)
    with (
        interruptible(f"the finished curves are kept in {store}"),
        curve_executor(jobs) as executor,
        Store(store, create=True) as opened,
        BenchProgress(get_console(stderr=True), executor.slots) as progress,
    ):
        curves = make_curves(plan, opened, executor, progress)
    console = get_console(json)
    if curves.groups:
        console.print(curves.table(how), soft_wrap=True, end="")
    for row in curves.failures:
        console.print(failure(row), soft_wrap=True)
    console.print(f"ran {curves.ran:,}, reused {curves.reused:,}, failed {len(curves.failures):,}")
    if figure is not None and picture is not None and curves.groups:
        from drgst.report.style import save

        save(curves.plot(), figure, picture)
        console.print(f"written to {figure}", soft_wrap=True)
    if json:
        emit({"dataset": curves.dataset, "recipe": plan.recipe, "choosers": curves.summary()})
    if curves.failures:
        raise typer.Exit(1)


def _picture(path: Path) -> str:
    """The format of the figure, by the name of its file, checked before any curve is made."""
    from drgst.report.style import check_format, check_matplotlib

    check_matplotlib()
    how = path.suffix.removeprefix(".") or "png"
    check_format(how)
    return how
