"""``drgst run``: a recipe on a graph, from the data to the predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from drgst.cli.console import emit, get_console
from drgst.cli.options import (
    ForceOption,
    JsonOption,
    LabelsOption,
    PriorOption,
    RunFolderOption,
    SetOption,
    option,
    own_recipe,
    parse_executor,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drgst.graph.core import Graph
    from drgst.runs.folder import RunFolder
    from drgst.runs.run import Run
    from drgst.selftrain.callbacks import Callback

app = typer.Typer(add_completion=False)


GraphArgument = Annotated[
    str | None,
    typer.Argument(metavar="GRAPH", help="A data set, folder of tables, .npz or graph file.", show_default="cora"),
]


@app.command()
def run(
    data: GraphArgument = None,
    recipe: Annotated[
        str | None, option("NAME", "The method.", default="drgst-plus; drgst-de on the paper's data", parser=own_recipe)
    ] = None,
    labels: LabelsOption = None,
    per_class: Annotated[int | None, option("N", "Training labels per class (3 for a known data set).", min=1)] = None,
    split: Annotated[Path | None, option("FILE", "Split file of drgst data split.")] = None,
    add_labels: Annotated[
        list[Path] | None, option("FILE", "CSV of further labels, as drgst suggest writes; repeatable.")
    ] = None,
    validation: Annotated[str | None, option("WHICH", "public, none (hidden), or a number to draw per class.")] = None,
    seed: Annotated[int | None, option("N", "Of the draw and of the training.", default="0", min=0)] = None,
    changes: SetOption = None,
    prior: PriorOption = None,
    config: Annotated[Path | None, option("FILE", "Config of a run; other options override it.")] = None,
    out: RunFolderOption = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the interrupted run in the folder.")] = False,
    force: ForceOption = False,
    threads: Annotated[int | None, option("N", "Of torch.", default="1 to 4, by graph size", min=1)] = None,
    executor: Annotated[str, option("WHERE", "local, or a Ray cluster: ray[:WORKERS][@HOST:PORT].")] = "local",
    log: Annotated[list[str] | None, option("NAME", "Also log to csv, tensorboard or mlflow; repeatable.")] = None,
    json: JsonOption = False,
) -> None:
    """Run a recipe: train on the few labels, then stage by stage on pseudo-labels, too.

    Without any argument: drgst-de on Cora with 3 labels per class.
    """
    from drgst.cli.output import print_result
    from drgst.datasets.registry import data_source
    from drgst.progress.loggers import check_loggers
    from drgst.recipes import find_recipe
    from drgst.runs.config import RunConfig, labels_source
    from drgst.runs.config_file import parse_changes
    from drgst.runs.start import RunRequest

    check_loggers(log or [])
    settings = parse_changes(changes or [], also=("pool",)) | ({"prior": ", ".join(prior)} if prior else {})
    given = RunConfig(
        data=data and data_source(data),
        labels=labels and labels_source(labels),
        recipe=recipe and find_recipe(recipe).name,
        per_class=per_class,
        split=None if split is None else str(split.absolute()),
        add_labels="\n".join(str(path.absolute()) for path in add_labels or ()) or None,
        seed=seed,
        pool=settings.pop("pool", None),
        validation=validation,
        threads=threads,
        settings=settings,
    )
    request = RunRequest(given, config, out, resume, force, parse_executor(executor))
    with Announcer(json, log or ()) as announce:
        result = request.execute(_open, announce)
    summary = print_result(get_console(json), result)
    if json:
        emit({**summary, "folder": result.folder})


class Announcer:
    """Called before a run is trained: prints what it is and returns its callback, with progress and loggers.

    As a context manager it ends Ctrl-C with one line, which says how to continue, and exit code 130.
    """

    def __init__(self, json: bool, loggers: Sequence[str] = ()) -> None:
        self.json, self.loggers = json, loggers
        self.folder: RunFolder | None = None

    def __call__(self, run: Run, folder: RunFolder) -> Callback | None:
        from drgst.cli.output import introduction
        from drgst.progress.display import Progress, joined
        from drgst.progress.loggers import make_logger

        self.folder = folder
        get_console(self.json).print(introduction(run), soft_wrap=True)
        loggers = [make_logger(name, folder.path) for name in self.loggers]
        return joined(Progress(get_console(stderr=True)), loggers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt) and self.folder is not None:
            again = f"Continue with: drgst run --out {self.folder} --resume"
            get_console(stderr=True).print(f"\ninterrupted; the finished stages are kept. {again}", soft_wrap=True)
            raise typer.Exit(130)


def _open(data: str) -> Graph:
    """The graph, with a bar on standard error while something is downloaded."""
    from drgst.cli.output import progress_bar
    from drgst.datasets import load as datasets
    from drgst.datasets.load import open_graph
    from drgst.datasets.registry import DATASETS

    if data not in DATASETS or data == "cora":  # Cora is part of drgst
        return open_graph(data)
    with progress_bar(get_console(stderr=True), data) as progress:
        return datasets.load(data, None, progress)
