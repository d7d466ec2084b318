"""``drgst classify``: the rows of a node table, with edges in other tables, from raw columns to predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import emit, get_console, refuse
from drgst.cli.options import (
    UNKNOWN,
    ColumnOption,
    EdgesOption,
    ForceOption,
    JsonOption,
    LinkOption,
    PriorOption,
    RecipeOption,
    RunFolderOption,
    SetOption,
    option,
    table_options,
)

if TYPE_CHECKING:
    from drgst.runs.config import RunConfig
    from drgst.runs.result import Result
    from drgst.tables.build import TableGraph

app = typer.Typer(add_completion=False)

# of from_tables, which --set takes, too
TABLE_SETTINGS = ("aggregate", "as_of", "duplicates", "half_life", "label_time", "unknown_endpoints")


@app.command()
def classify(
    nodes: Annotated[str, typer.Argument(metavar="NODES", help="Node table: CSV of any delimiter, gzip or Parquet.")],
    label: Annotated[str | None, option("COLUMN", "Column of classes; empty cells are to be predicted.")] = None,
    labels: Annotated[str | None, option("FILE", "Instead: CSV with id and label, as drgst suggest writes.")] = None,
    edges: EdgesOption = None,
    columns: ColumnOption = None,
    links: LinkOption = None,
    prior: PriorOption = None,
    recipe: RecipeOption = "drgst-plus",
    changes: SetOption = None,
    out: RunFolderOption = None,
    force: ForceOption = False,
    check: Annotated[bool, typer.Option("--check", help="Show how each column is read, and stop.")] = False,
    json: JsonOption = False,
) -> None:
    """Classify the rows of a table: columns of any type, no cleaning; rows without a label are predicted.

    All faults of the tables are listed at once, with exit code 2. The run folder keeps the graph and how each column
    was read, so that drgst predict RUN --nodes reads later tables alike.
    """
    from dataclasses import replace

    from drgst.runs.folder import RunFolder
    from drgst.tables.faults import TableError
    from drgst.tables.read import open_tables

    _check_input(nodes, label, labels, check)
    config, rules = _config(recipe, changes, prior)
    if labels is not None:
        config = replace(config, add_labels=str(Path(labels).absolute()))
    name = replace(config, data=Path(nodes).name.partition(".")[0]).run_name()
    folder = RunFolder(out or Path("runs") / name)
    if not check:
        folder.check_free(False, force)
    options = table_options(columns or (), links or (), label=label) | rules
    try:
        tables = open_tables(nodes, edges, UNKNOWN if label is labels is None else config.added_classes(), **options)
    except TableError as error:
        refuse(error, json, columns=check)
    get_console(json).print(tables.report, soft_wrap=True)
    if check:
        _print_check(tables, json)
        return
    from drgst.cli.output import print_result
    from drgst.cli.run import Announcer
    from drgst.datasets.load import open_graph
    from drgst.runs.start import RunRequest

    request = RunRequest(config, out=folder.path, force=force, tables=tables)
    with Announcer(json) as announce:
        result = request.execute(open_graph, announce)
    summary = print_result(get_console(json), result)
    for line in _next_steps(result):
        get_console(json).print(line, soft_wrap=True)
    if json:
        emit({**summary, "folder": str(folder)})


def _check_input(nodes: str, label: str | None, labels: str | None, check: bool) -> None:
    """Refuse a graph file, and none or both ways to say what the labels are; columns are shown without labels, too."""
    from drgst.errors import SettingError

    if nodes.lower().removesuffix(".gz").endswith((".graphml", ".gml", ".gexf")):
        named = f" --labels {label or labels}" if label or labels else ""
        raise SettingError(f"{nodes} is a graph file, not a table: use drgst run {nodes}{named}")
    if (label is None) == (labels is None) and not (check and label is None):
        raise SettingError("give --label, the column of classes, or --labels, a CSV with ids and labels")


def _config(recipe: str, changes: list[str] | None, prior: list[str] | None) -> tuple[RunConfig, dict[str, Any]]:
    """The config, and the settings of tables."""
    from drgst.errors import SettingError
    from drgst.recipes import find_recipe
    from drgst.runs.config import RunConfig
    from drgst.runs.config_file import parse_changes

    spec = find_recipe(recipe)
    settings = parse_changes(changes or [], also=("seed", *TABLE_SETTINGS)) | (
        {"prior": ", ".join(prior)} if prior else {}
    )
    seed = str(settings.pop("seed", "0"))
    rules = {name: str(settings.pop(name)) for name in TABLE_SETTINGS if name in settings}
    if not seed.isdigit():
        raise SettingError(f"seed is {seed!r}, but must be a whole number, 0 or above")
    spec.settings(settings)
    return RunConfig(recipe=spec.name, seed=int(seed), settings=settings), rules


def _print_check(tables: TableGraph, json: bool) -> None:
    graph = tables.graph
    get_console(json).print(
        f"{graph.name} has no faults: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
        f"{graph.num_features:,} features, {int((graph.labels >= 0).sum()):,} labels",
        soft_wrap=True,
    )
    if json:
        emit({"ok": True, "schema": tables.schema.model_dump(mode="json"), "notes": list(tables.notes)})


def _next_steps(result: Result) -> list[str]:
    """How many rows were predicted as what, and the command that predicts later rows."""
    from collections import Counter
    from shlex import quote

    names = result.model.class_names
    predicted = result.probabilities[result.unlabelled].argmax(axis=1).tolist()
    counts = ", ".join(f"{names[label]} {count:,}" for label, count in Counter(predicted).most_common())
    return [
        f"new rows: drgst predict {quote(result.folder)} --nodes NEW-NODES --edges NEW-EDGES",
        "",
        f"predicted for {len(predicted):,} rows without label: {counts}",
    ]
