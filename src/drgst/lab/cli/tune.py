"""``drgst lab tune``: search settings by validation accuracy and write them as a preset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import get_console, interruptible
from drgst.cli.options import JobsOption, RecipeOption, out_file

if TYPE_CHECKING:
    from drgst.lab.grid.grid import Grid
    from drgst.lab.tuning import Tuned

app = typer.Typer(add_completion=False)


@app.command()
def tune(
    data: Annotated[str, typer.Argument(metavar="NAME|PATH", help="A data set or the file of a graph.")] = "cora",
    recipe: RecipeOption = "drgst-de",
    per_class: Annotated[int, typer.Option(min=1, help="Training labels per class.")] = 3,
    trials: Annotated[int, typer.Option(min=1, help="Trials in all, those of earlier calls included.")] = 60,
    draws: Annotated[int, typer.Option(min=1, help="Draws over which a trial takes the mean.")] = 5,
    jobs: JobsOption = None,
    space: Annotated[str, typer.Option(help="paper: its grid; wide: also the network's settings.")] = "paper",
    store: Annotated[Path, typer.Option(help="File that keeps the study.")] = Path("runs.db"),
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting that is fixed, not searched.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=out_file, metavar="FILE", help="Preset.", show_default="DATA-RECIPE-LABELS.toml"),
    ] = None,
) -> None:
    """Search the settings of highest mean validation accuracy; test labels are not used.

    The preset is for drgst run --config and drgst lab bench --preset. The same command continues the search.
    """
    from drgst.files import STANDARD_OUTPUT
    from drgst.lab.grid.execute import validate
    from drgst.lab.grid.executors import Local
    from drgst.lab.grid.grid import Grid
    from drgst.lab.store import Store
    from drgst.lab.tuning import Tuner
    from drgst.runs.config_file import parse_changes

    grid = Grid([data], [per_class], [recipe], draws, parse_changes(changes or []))
    errors = get_console(stderr=True)
    with (
        interruptible(f"the finished trials are kept in {store}"),
        Local(jobs, work=validate) as executor,
        Store(store, create=True) as opened,
    ):
        tuner = Tuner(grid, space, opened)
        tuned = tuner.run(trials, executor, lambda *trial: errors.print(_line(*trial), soft_wrap=True))
    path = out or Path(f"{tuner.tasks[0].dataset}-{recipe}-{per_class}.toml")
    _write(path, grid, tuned)
    default = "" if tuned.default_value is None else f", {100 * tuned.default_value:.2f} with the first settings"
    for line in (
        f"validation accuracy {100 * tuned.value:.2f}{default}; {tuned.trials} trials, {tuned.pruned} pruned",
        f"preset: {path}  (drgst run --config {path}; drgst lab bench --preset {path})",
    ):
        get_console(path == STANDARD_OUTPUT).print(line, soft_wrap=True)


def _line(number: int, state: str, value: float | None, settings: dict[str, Any]) -> str:
    shown = "" if value is None else f"{100 * value:.2f}"
    words = ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in settings.items())
    return f"trial {number}: {state} {shown} ({words})"


def _write(path: Path, grid: Grid, tuned: Tuned) -> None:
    from drgst.files import write_text
    from drgst.runs.config import RunConfig
    from drgst.runs.config_file import to_toml

    (cell,) = tuple(grid.cells())
    config = RunConfig(
        data=cell.source, recipe=cell.recipe, per_class=cell.per_class, pool=grid.pool, settings=tuned.settings
    )
    found = f"# Mean validation accuracy {tuned.value:.4f} over {grid.draws} draws, best of {tuned.trials} trials\n"
    write_text(path, f"{found}# (study {tuned.study}).\n{to_toml(config)}")
