"""``drgst run``: a recipe on a graph, from the data to the predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import JsonOption, RootOption, emit, people

if TYPE_CHECKING:
    from drgst.runs.config import RunConfig
    from drgst.runs.folder import RunFolder

app = typer.Typer(add_completion=False)

JSON_KEYS = (
    "dataset",
    "recipe",
    "per_class",
    "seed",
    "teacher_test_accuracy",
    "test_accuracy",
    "val_accuracy",
    "stages",
    "stop_reason",
    "seconds",
    "epochs",
    "peak_memory_mb",
)


@app.command()
def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME|PATH", help="A data set, a folder of tables or an .npz.", show_default="cora"),
    ] = None,
    recipe: Annotated[str | None, typer.Option(help="The method; see drgst recipes.", show_default="drgst-de")] = None,
    per_class: Annotated[
        int | None,
        typer.Option(
            min=1, help="Training labels per class.", show_default="3 for a known data set, else the graph's own split"
        ),
    ] = None,
    split: Annotated[Path | None, typer.Option(help="Split file, as written by drgst data split.")] = None,
    pool: Annotated[
        str | None, typer.Option(help="Who may be pseudo-labelled: unlabelled, or all-but-validation.")
    ] = None,
    validation: Annotated[
        str | None, typer.Option(help="public, or none: no validation label is shown to the run.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the draw and of the training.", show_default="0")] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, such as threshold=0.5.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Run what this file says; options said beside it win.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder.", show_default="runs/DATA-RECIPE-LABELS-SEED")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the interrupted run in the folder.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the run in the folder.")] = False,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps or auto.", show_default="cpu")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Of torch.", show_default="1 on a small graph")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Run a recipe on a graph: train on the few labels, then on what can be trusted, stage by stage.

    Without any argument: drgst-de on Cora with 3 labels a class.
    """
    from drgst.recipes import find_recipe
    from drgst.runs.config_file import read_config
    from drgst.runs.folder import RunFolder
    from drgst.runs.plan import run_name, with_defaults

    said = _said(words or [], changes or [], device, split)
    name = None if recipe is None else find_recipe(recipe).name
    flags = _flags(recipe=name, per_class=per_class, pool=pool, validation=validation, seed=seed, threads=threads)
    said = said.overlaid(flags)
    asked = said if config is None else read_config(config).overlaid(said)
    folder = RunFolder(out or Path("runs") / run_name(with_defaults(asked)))
    folder.check_free(resume, force)
    going_on = resume and folder.exists
    if going_on:
        asked = _same(folder, asked if config else said)
    if not (going_on and folder.finished):
        _carry_out(asked, folder, going_on, root, json)
    _report(folder, json)


def _said(words: list[str], changes: list[str], device: str | None, split: Path | None) -> RunConfig:
    """What the words on the line say: a graph, and ``key=value`` after ``--set`` (which takes one or more)."""
    from drgst.errors import SettingError, SplitError
    from drgst.runs.config import RunConfig, absolute
    from drgst.runs.config_file import parse_changes

    more = [word for word in words if changes and word.partition("=")[0].isidentifier() and "=" in word]
    graphs = [word for word in words if word not in more]
    if len(graphs) > 1:
        raise SettingError(f"one graph at a time is run, not {len(graphs)} ({', '.join(graphs)})")
    settings = parse_changes([*changes, *more, *([f"device={device}"] if device else [])])
    if split is not None and not split.is_file():
        raise SplitError(f"there is no split file {split}")
    return RunConfig(
        data=absolute(graphs[0]) if graphs else None,
        split=None if split is None else str(split.absolute()),
        settings=settings,
    )


def _flags(**values: Any) -> RunConfig:
    from drgst.runs.config import RunConfig

    return RunConfig(**values)


def _same(folder: RunFolder, said: RunConfig) -> RunConfig:
    """The config of an interrupted run, once nothing that is said now is against it."""
    from dataclasses import replace

    from drgst.errors import RunError

    config = folder.config()
    conflict = config.conflict(said)
    if conflict is not None:
        raise RunError(f"the run in {folder} has {conflict}; go on without saying otherwise, or use another --out")
    given = said.split if said.split != config.split else None
    return replace(config, split=given or config.split, per_class=None if given else config.per_class)


def _carry_out(asked: RunConfig, folder: RunFolder, resume: bool, root: str | None, json: bool) -> None:
    from rich.console import Console

    from drgst.cli.progress import Progress
    from drgst.cli.run_view import introduction
    from drgst.runs.plan import make_plan
    from drgst.runs.run import execute_run

    plan = make_plan(asked, lambda data: _open(data, root))
    people(json).print(introduction(plan.graph, plan.split, plan.config), soft_wrap=True)
    words = Console(stderr=True, markup=False, highlight=False, emoji=False)
    try:
        with Progress(words, plan.problem.settings.stages) as progress:
            execute_run(plan, folder, resume, progress)
    except KeyboardInterrupt:
        words.print(
            f"\ninterrupted; the finished stages are kept. Go on with: drgst run --out {folder} --resume",
            soft_wrap=True,
        )
        raise typer.Exit(130) from None


def _open(data: str, root: str | None) -> Any:
    """The graph, with a bar on standard error while something is downloaded."""
    from drgst.cli.show import progress_bar
    from drgst.graph.datasets import load as datasets
    from drgst.graph.datasets.registry import DATASETS
    from drgst.graph.io.open import open_graph

    if data not in DATASETS or data == "cora":  # Cora is part of drgst
        return open_graph(data, root)
    with progress_bar(people(as_json=True), data) as progress:
        return datasets.get(data, root, progress)


def _report(folder: RunFolder, json: bool) -> None:
    from drgst.cli.run_view import report

    summary = folder.summary()
    report(people(json), summary, folder.rows(), str(folder))
    if json:
        emit({key: summary[key] for key in JSON_KEYS})
