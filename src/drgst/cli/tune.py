"""``drgst tune``: search settings by validation accuracy and write them as a preset."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import JsonOption, RootOption, emit, people

if TYPE_CHECKING:
    from drgst.bench.tune import Tuned

app = typer.Typer(add_completion=False)


@app.command()
def tune(
    data: Annotated[str, typer.Argument(metavar="NAME|PATH", help="A data set or a graph's file.")] = "cora",
    recipe: Annotated[str, typer.Option(help="The method.")] = "drgst-de",
    per_class: Annotated[int, typer.Option(min=1, help="Training labels a class.")] = 3,
    trials: Annotated[int, typer.Option(min=1, help="Trials in all, those of earlier calls included.")] = 60,
    draws: Annotated[int, typer.Option(min=1, help="Draws that a trial is the mean of.")] = 5,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes.", show_default="one a core")] = None,
    space: Annotated[str, typer.Option(help="paper: its grid; wide: also the network's settings.")] = "paper",
    store: Annotated[Path, typer.Option(help="File that keeps the study.")] = Path("runs.db"),
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting that is fixed, not searched.")
    ] = None,
    pool: Annotated[str, typer.Option(help="unlabelled, or all-but-validation.")] = "unlabelled",
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Preset.", show_default="DATA-RECIPE-LABELS.toml")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Search the settings of highest mean validation accuracy; test nodes are not looked at.

    The preset is for drgst run --config and drgst bench --preset. Called again, the search goes on.
    """
    from drgst.bench.executors import Local
    from drgst.bench.grid import Grid
    from drgst.bench.store import Store
    from drgst.bench.tune import Tuner, import_optuna
    from drgst.bench.validate import validate
    from drgst.runs.config_file import parse_changes

    import_optuna()
    grid = Grid([data], [per_class], [recipe], draws, parse_changes(changes or []), pool=pool, root=root)
    words = people(as_json=True)
    try:
        with Store(store, create=True) as opened:
            tuner = Tuner(grid, space, opened, seed)
            engine = Local(jobs or os.cpu_count() or 1, work=validate)
            tuned = tuner.run(trials, engine, lambda *told: words.print(_line(*told), soft_wrap=True))
    except KeyboardInterrupt:
        words.print(f"\ninterrupted; the trials that ended are kept in {store}; the same words go on")
        raise typer.Exit(130) from None
    path = out or Path(f"{tuner.tasks[0].dataset}-{Path(recipe).stem}-{per_class}.toml")
    _write(path, grid, tuned)
    _report(tuned, path, json, {"dataset": tuner.tasks[0].dataset, "recipe": recipe, "per_class": per_class})


def _line(number: int, state: str, value: float | None, settings: dict[str, Any]) -> str:
    shown = "" if value is None else f"{100 * value:.2f}"
    words = ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in settings.items())
    return f"trial {number}: {state} {shown} ({words})"


def _write(path: Path, grid: Any, tuned: Tuned) -> None:
    from drgst.files import write_text
    from drgst.runs.config import RunConfig
    from drgst.runs.config_file import to_toml

    (cell,) = tuple(grid.cells())
    config = RunConfig(
        data=cell.source, recipe=cell.recipe, per_class=cell.per_class, pool=grid.pool, settings=tuned.settings
    )
    found = f"# Mean validation accuracy {tuned.value:.4f} over {grid.draws} draws, best of {tuned.trials} trials\n"
    write_text(path, f"{found}# (study {tuned.study}).\n{to_toml(config)}")


def _report(tuned: Tuned, path: Path, json: bool, names: dict[str, Any]) -> None:
    console = people(json)
    usual = "" if tuned.usual is None else f", {100 * tuned.usual:.2f} with the first settings"
    console.print(f"validation accuracy {100 * tuned.value:.2f}{usual}; {tuned.trials} trials, {tuned.pruned} pruned")
    console.print(f"preset: {path}  (drgst run --config {path}; drgst bench --preset {path})", soft_wrap=True)
    if json:
        figures = {"val_accuracy": tuned.value, "first_val_accuracy": tuned.usual, "settings": tuned.settings}
        counts = {"trials": tuned.trials, "pruned": tuned.pruned}
        emit({**names, **figures, **counts, "study": tuned.study, "preset": str(path)})
