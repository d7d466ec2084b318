"""``drgst run``: a recipe on a graph, from the data to the predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import emit, get_console
from drgst.cli.options import JsonOption, PriorOption, RootOption, out_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drgst.runs.config import RunConfig
    from drgst.runs.folder import RunFolder
    from drgst.runs.run import Run

app = typer.Typer(add_completion=False)

FACTS = ("dataset", "recipe", "per_class", "seed", "stages", "stop_reason", "seconds", "epochs", "peak_memory_mb")
JSON_KEYS = (*FACTS, "teacher_test_accuracy", "test_accuracy", "val_accuracy")


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
    add_labels: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="CSV of further labels (id, label), as drgst suggest writes; repeatable."),
    ] = None,
    pool: Annotated[
        str | None, typer.Option(help="Nodes that may be pseudo-labelled: unlabelled, or all-but-validation.")
    ] = None,
    validation: Annotated[str | None, typer.Option(help="public, or none: hide the validation labels.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the draw and of the training.", show_default="0")] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, such as threshold=0.5.")
    ] = None,
    prior: PriorOption = None,
    config: Annotated[Path | None, typer.Option(help="Config file of the run; other options override it.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=out_folder, metavar="FOLDER", help="Run folder.", show_default="runs/DATA-RECIPE-LABELS-SEED"
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the interrupted run in the folder.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the run in the folder.")] = False,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps or auto.", show_default="cpu")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Of torch.", show_default="1 to 4, by graph size")] = None,
    engine: Annotated[
        str | None, typer.Option(help="local, or ray: several workers of a Ray cluster.", show_default="local")
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Of the Ray cluster, host:port.", show_default="that of this machine")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Of the engine ray.", show_default="2")] = None,
    log: Annotated[
        list[str] | None, typer.Option(help="Also log epochs and stages: csv, tensorboard or mlflow; repeatable.")
    ] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Run a recipe on a graph: train on the few labels, then stage by stage on pseudo-labels, too.

    Without any argument: drgst-de on Cora with 3 labels per class.
    """
    from contextlib import nullcontext

    from drgst.cli.run_output import report
    from drgst.errors import RunError, SplitError, located
    from drgst.progress.choose import check_loggers
    from drgst.recipes import find_recipe
    from drgst.runs.config import RunConfig
    from drgst.runs.config_file import parse_changes, read_config
    from drgst.runs.folder import RunFolder
    from drgst.runs.run import Run

    check_loggers(log or [])
    _check_engine(engine, address, workers)
    data, settings = _graph_and_settings(words or [], changes or [])
    settings |= parse_changes([f"device={device}"] if device else [])
    settings |= {"prior": ", ".join(prior)} if prior else {}
    if split is not None and not split.is_file():
        raise SplitError(f"there is no split file {split}")
    given = RunConfig(
        data=data,
        recipe=None if recipe is None else find_recipe(recipe).name,
        per_class=per_class,
        split=None if split is None else str(split.absolute()),
        add_labels="\n".join(str(path.absolute()) for path in add_labels) if add_labels else None,
        seed=seed,
        pool=pool,
        validation=validation,
        threads=threads,
        settings=settings,
    )
    with located(config) if config else nullcontext():
        wanted = given if config is None else read_config(config).updated(given)
        folder = RunFolder(out or Path("runs") / wanted.with_defaults().run_name())
    folder.check_free(resume, force)
    if resume and not folder.exists:
        _start_anew(folder, given_graph=data is not None or config is not None)
    wanted = _same(folder, wanted if config else given) if resume and folder.exists else wanted
    if not (resume and folder.finished):
        with folder.locked():
            folder.check_free(resume, force)  # another run may have begun here since the first check
            with located(config) if config else nullcontext():
                run = Run.from_config(wanted, lambda data: _open(data, root))
            if engine == "ray":
                _execute_on_cluster(run, folder, resume, json, workers or 2, address)
            else:
                execute(run, folder, resume, json, log)
    summary = folder.summary()
    try:
        report(get_console(json), summary, folder.rows(), str(folder))
        document = {key: summary[key] for key in JSON_KEYS}
    except (KeyError, TypeError) as error:
        raise RunError(f"summary.json or history.jsonl in {folder} is damaged: {error}") from error
    if json:
        emit(document)


def _check_engine(engine: str | None, address: str | None, workers: int | None) -> None:
    from drgst.errors import SettingError, unknown

    if engine not in (None, "local", "ray"):
        raise SettingError(unknown("engine", str(engine), ("local", "ray")))
    if engine != "ray" and (address or workers):
        raise SettingError(f"{'--address' if address else '--workers'} is for --engine ray")


def _execute_on_cluster(
    run: Run, folder: RunFolder, resume: bool, json: bool, workers: int, address: str | None
) -> None:
    from drgst.cli.run_output import introduction
    from drgst.runs.cluster import Cluster

    get_console(json).print(introduction(run.graph, run.split, run.config), soft_wrap=True)
    Cluster(workers, address).execute(run, folder, resume)


def _graph_and_settings(words: list[str], changes: list[str]) -> tuple[str | None, dict[str, Any]]:
    """``--set`` takes one or more ``key=value``, but typer passes all but the first as ``words``, with the graph."""
    from drgst.datasets.registry import data_source
    from drgst.errors import SettingError
    from drgst.runs.config_file import parse_changes

    more = [word for word in words if changes and word.partition("=")[0].isidentifier() and "=" in word]
    graphs = [word for word in words if word not in more]
    if len(graphs) > 1:
        raise SettingError(f"a run takes one graph, not {len(graphs)} ({', '.join(graphs)})")
    return data_source(graphs[0]) if graphs else None, parse_changes([*changes, *more])


def _start_anew(folder: RunFolder, given_graph: bool) -> None:
    """A warning that there is nothing to resume; refused where no graph is named, since Cora is not what was meant."""
    import logging

    from drgst.errors import RunError

    if not given_graph:
        raise RunError(f"there is no run in {folder} to resume; name its folder with --out, or a graph to start a run")
    logging.getLogger("drgst").warning("there is no run in %s to resume: a new one is started", folder)


def _same(folder: RunFolder, given: RunConfig) -> RunConfig:
    """The config of the interrupted run; options that contradict it are refused."""
    import logging
    from dataclasses import replace

    from drgst.errors import RunError

    config = folder.config()
    conflict = config.conflict(given)
    if conflict is not None:
        raise RunError(f"the run in {folder} has {conflict}; resume it without that option, or use another --out")
    if given.threads not in (None, config.threads):
        logging.getLogger("drgst").warning(
            "the run in %s was started with %s threads and continues with them, so that its result is the same; "
            "--threads %s is not used",
            *(folder, config.threads, given.threads),
        )
    split = given.split if given.split != config.split else None
    return replace(config, split=split or config.split, per_class=None if split else config.per_class)


def execute(run: Run, folder: RunFolder, resume: bool, json: bool, loggers: Sequence[str] | None = None) -> None:
    """Execute ``run`` with its introduction and a progress bar; Ctrl-C ends with exit code 130."""
    from drgst.cli.run_output import introduction
    from drgst.progress.choose import joined, make_logger
    from drgst.progress.terminal import Progress

    get_console(json).print(introduction(run.graph, run.split, run.config), soft_wrap=True)
    console = get_console(stderr=True)
    try:
        run.execute(
            joined(Progress(console), [make_logger(name, folder.path) for name in loggers or ()]), folder, resume
        )
    except KeyboardInterrupt:
        message = f"\ninterrupted; the finished stages are kept. Continue with: drgst run --out {folder} --resume"
        console.print(message, soft_wrap=True)
        raise typer.Exit(130) from None


def _open(data: str, root: str | None) -> Any:
    """The graph, with a bar on standard error while something is downloaded."""
    from drgst.cli.graph_output import progress_bar
    from drgst.datasets import load as datasets
    from drgst.datasets.load import open_graph
    from drgst.datasets.registry import DATASETS

    if data not in DATASETS or data == "cora":  # Cora is part of drgst
        return open_graph(data, root)
    with progress_bar(get_console(stderr=True), data) as progress:
        return datasets.load(data, root, progress)
