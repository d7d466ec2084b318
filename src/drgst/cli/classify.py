"""``drgst classify``: the rows of a node table, with edges in other tables, from raw columns to predictions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import emit, get_console, refuse
from drgst.cli.options import (
    AggregateOption,
    CategoryOption,
    DateOption,
    DropOption,
    EdgesOption,
    EndpointsOption,
    FromOption,
    IdOption,
    JsonOption,
    NumericOption,
    PriorOption,
    TextOption,
    TimeOption,
    ToOption,
    WeightOption,
    given,
)

if TYPE_CHECKING:
    from drgst.runs.config import RunConfig
    from drgst.runs.folder import RunFolder
    from drgst.tables.build import TableGraph

app = typer.Typer(add_completion=False)


@app.command()
def classify(
    nodes: Annotated[str, typer.Argument(metavar="NODES", help="Node table: CSV of any delimiter, gzip or Parquet.")],
    label: Annotated[str, typer.Option(metavar="COLUMN", help="Column of classes; empty cells are to be predicted.")],
    edges: EdgesOption = None,
    id: IdOption = None,  # noqa: A002
    source: FromOption = None,
    target: ToOption = None,
    weight: WeightOption = None,
    time: TimeOption = None,
    aggregate: AggregateOption = None,
    drop: DropOption = None,
    numeric: NumericOption = None,
    category: CategoryOption = None,
    text: TextOption = None,
    date: DateOption = None,
    unknown_endpoints: EndpointsOption = None,
    prior: PriorOption = None,
    recipe: Annotated[str, typer.Option(help="The method; see drgst recipes.")] = "drgst-plus",
    changes: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the training.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Run folder.", show_default="runs/NODES-RECIPE-SEED")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the run in the folder.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Show what the columns are read as, and stop.")] = False,
    json: JsonOption = False,
) -> None:
    """Classify the rows of a table: columns of any type, no cleaning; rows without a label are predicted.

    All faults of the tables are listed at once, with exit code 2. The run folder keeps the graph and how each column
    was read, so that drgst predict RUN --nodes reads later tables alike.
    """
    from dataclasses import replace

    from drgst.runs.folder import RunFolder
    from drgst.tables.build import from_tables
    from drgst.tables.faults import TableError

    config = _config(recipe, seed, changes, prior)
    name = replace(config, data=Path(nodes).name.partition(".")[0]).run_name()
    folder = RunFolder(out or Path("runs") / name)
    if not check:
        folder.check_free(False, force)
    roles = given(id=id, source=source, target=target, weight=weight, time=time, aggregate=aggregate)
    kinds = given(drop=drop, numeric=numeric, category=category, text=text, date=date)
    try:
        tables = from_tables(nodes, edges, label=label, **roles, **kinds, **given(unknown_endpoints=unknown_endpoints))
    except TableError as error:
        refuse(error.problems, json)
    get_console(json).print(tables.report, soft_wrap=True)
    if check:
        graph = tables.graph
        get_console(json).print(
            f"{graph.name} is in order: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, "
            f"{graph.num_features:,} features, {int((graph.labels >= 0).sum()):,} labels",
            soft_wrap=True,
        )
        if json:
            emit({"ok": True, "schema": tables.schema.model_dump(mode="json"), "notes": list(tables.notes)})
        return
    _run(config, tables, folder, force, json)


def _config(recipe: str, seed: int, changes: list[str] | None, prior: list[str] | None) -> RunConfig:
    from drgst.recipes import find_recipe
    from drgst.runs.config import RunConfig
    from drgst.runs.config_file import parse_changes

    spec = find_recipe(recipe)
    settings = parse_changes(changes or []) | ({"prior": ", ".join(prior)} if prior else {})
    spec.settings(settings)
    return RunConfig(recipe=spec.name, seed=seed, settings=settings)


def _run(config: RunConfig, tables: TableGraph, folder: RunFolder, force: bool, json: bool) -> None:
    from dataclasses import replace

    from drgst.cli.run import execute
    from drgst.cli.run_output import report
    from drgst.runs.folder import GRAPH
    from drgst.runs.run import Run

    config = replace(config, data=str((folder / GRAPH).absolute()))
    run = replace(Run.from_config(config, lambda _: tables.graph), tables=tables)
    with folder.locked():
        folder.check_free(False, force)  # another run may have begun here since the first check
        execute(run, folder, False, json)
    summary = folder.summary()
    console = get_console(json)
    report(console, summary, folder.rows(), str(folder))
    for line in _next_steps(folder, summary):
        console.print(line, soft_wrap=True)
    if json:
        emit({**summary, "folder": str(folder), "schema": tables.schema.model_dump(mode="json")})


def _next_steps(folder: RunFolder, summary: dict[str, Any]) -> list[str]:
    """How many rows were predicted as what, and the commands that go on from here."""
    from collections import Counter

    rest = [label for label, known in zip(*map(folder.predictions, ("label", "given")), strict=True) if not known]
    counts = ", ".join(f"{name} {count:,}" for name, count in Counter(rest).most_common())
    oof = summary["oof_accuracy"]
    accuracy = "" if oof is None else f"; {summary['oof_folds']}-fold out-of-fold accuracy: {oof:.1%}"
    return [
        f"new rows: drgst predict {folder} --nodes NEW-NODES --edges NEW-EDGES",
        "",
        f"predicted for {len(rest):,} rows without label: {counts}{accuracy}",
    ]
