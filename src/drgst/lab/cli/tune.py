"""``drgst lab tune``: search settings by validation accuracy and write them as a preset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import get_console, interruptible, say
from drgst.cli.options import JobsOption, RecipeOption, StoreOption, out_file

app = typer.Typer(add_completion=False)


@app.command()
def tune(
    data: Annotated[str, typer.Argument(metavar="NAME|PATH", help="A data set or the file of a graph.")] = "cora",
    recipe: RecipeOption = "drgst-de",
    per_class: Annotated[int, typer.Option(min=1, help="Training labels per class.")] = 3,
    trials: Annotated[int, typer.Option(min=1, help="Trials in all, those of earlier calls included.")] = 60,
    draws: Annotated[int, typer.Option(min=1, help="Draws over which a trial takes the mean.")] = 5,
    jobs: JobsOption = None,
    store: StoreOption = Path("runs.db"),
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting that is fixed, not searched.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=out_file, metavar="FILE", help="Preset.", show_default="DATA-RECIPE-LABELS.toml"),
    ] = None,
) -> None:
    """Search the settings of highest mean validation accuracy; test labels are not used.

    The recipe's own settings come first, then thresholds, β and drop rates of the paper's grid in a random order. The
    preset is for drgst run --config and drgst lab bench --preset. The same command continues the search.
    """
    from drgst.files import STANDARD_OUTPUT, write_text
    from drgst.lab.grid.executors import Local
    from drgst.lab.grid.grid import Grid
    from drgst.lab.progress import BenchProgress
    from drgst.lab.store import Store
    from drgst.lab.tuning import execute_trial
    from drgst.lab.tuning import tune as search
    from drgst.runs.config import RunConfig
    from drgst.runs.config_file import parse_changes, to_toml

    grid = Grid([data], [per_class], [recipe], draws, parse_changes(changes or []))
    (cell,) = tuple(grid.cells())
    with (
        interruptible(f"the finished trials are kept in {store}"),
        Local(jobs, work=execute_trial) as executor,
        Store(store, create=True) as opened,
        BenchProgress(get_console(stderr=True)) as progress,
    ):
        tuned = search(grid, trials, opened, executor, progress)
    path = out or Path(f"{Path(cell.source).stem}-{recipe}-{per_class}.toml")
    config = RunConfig(data=cell.source, recipe=recipe, per_class=per_class, pool=grid.pool, settings=tuned.settings)
    found = f"mean validation accuracy {tuned.value:.4f} over {draws} draws, best of {tuned.trials} trials"
    write_text(path, f"# {found}\n{to_toml(config)}")
    default = "" if tuned.default_value is None else f"; {tuned.default_value:.4f} with the recipe's own settings"
    say(
        get_console(path == STANDARD_OUTPUT),
        f"{found}{default}",
        f"preset: {path}  (drgst run --config {path}; drgst lab bench --preset {path})",
    )
