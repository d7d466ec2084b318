"""``drgst suggest``: which nodes to label next, and what further labels are expected to gain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from drgst.cli.console import emit, get_console, plain_table, say, working
from drgst.cli.options import (
    UNKNOWN,
    ColumnOption,
    EdgesOption,
    JsonOption,
    LabelsOption,
    opened,
    option,
    out_file,
    table_options,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from drgst.graph.core import Graph

app = typer.Typer(add_completion=False)

ASK = ("id", "label", "predicted", "confidence", "reason", "chosen_by", "probability")


@app.command()
def suggest(
    run: Annotated[str, typer.Argument(metavar="RUN|GRAPH", help="A finished run, a graph, or a node table.")],
    n: Annotated[int, option("N", "How many nodes.", "--n", "-n")] = 20,
    by: Annotated[
        str | None,
        option(
            "CHOOSER",
            "half-random, random, balanced, margin, gain, medoids, variance, typical-first.",
            default="the recipe's own",
        ),
    ] = None,
    out: Annotated[Path | None, option("FILE", "CSV to fill in, for drgst run --add-labels.", parser=out_file)] = None,
    edges: EdgesOption = None,
    columns: ColumnOption = None,
    labels: LabelsOption = None,
    budget: Annotated[
        bool, typer.Option("--budget", help="Also estimate what 20, 50 and 100 more labels bring.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Suggest which nodes to label next, and why each.

    Of a run: by a chooser that was measured to beat a random sample with its recipe, else a class-balanced random
    sample. Of a graph or tables: the nodes to begin with, before any label is known.
    """
    from shlex import quote

    from drgst.datasets.registry import DATASETS
    from drgst.errors import RunError
    from drgst.files import STANDARD_OUTPUT, csv_text, write_text
    from drgst.runs.folder import RunFolder

    console = get_console(json or out == STANDARD_OUTPUT)
    is_run = RunFolder(run).exists
    if not is_run and (budget or not (Path(run).exists() or run.lower() in DATASETS)):
        graph = "" if budget else ", nor a graph"
        raise RunError(f"{run} is not the folder of a run{graph}; make one with: drgst run GRAPH --out {run}")
    note, rows, again = _of_run(run, n, by) if is_run else _of_graph(run, n, by, _Source(edges, columns, labels))
    if not rows:
        raise RunError(f"every node of {run} is labelled, so there is none to suggest")
    console.print(_table(rows, predicted=is_run))
    say(console, note)
    if len(rows) < n:
        say(console, f"only {len(rows):,} nodes can be suggested")
    if out is not None:
        write_text(out, csv_text([ASK, *([row[name] for name in ASK] for row in rows)]))
        if out != STANDARD_OUTPUT:
            say(console, f"written to {out}; fill in the column label, then: {again} {quote(str(out))}")
    forecast = _forecast(console, run) if budget else {}
    if json:
        shown = [{k: v for k, v in row.items() if k != "label"} for row in rows]
        emit({"run": str(run), "note": note, "suggestions": shown, **forecast})


class _Source(NamedTuple):
    """The options for a graph that is not a run."""

    edges: list[str] | None
    columns: list[str] | None
    labels: str | None


def _of_run(run: str, n: int, by: str | None) -> tuple[str, list[dict[str, Any]], str]:
    """The note, the rows, and the command to which the filled-in file is appended."""
    from shlex import quote

    from drgst.decide.labels.suggest import suggest as suggest_nodes
    from drgst.runs.run import load_result

    with working(f"reading the run and choosing {n} of its unlabelled nodes"):
        result = load_result(run)
        found = suggest_nodes(result, n, by)
    names = result.model.class_names
    rows = [_row(row, result.node_ids[row["node"]], names) for row in found.rows(result.probabilities)]
    place = Path(run)
    again = f"drgst run --config {quote(str(place / 'config.toml'))} --out {quote(f'{place}-next')} --add-labels"
    return found.note, rows, again


def _of_graph(data: str, n: int, by: str | None, source: _Source) -> tuple[str, list[dict[str, Any]], str]:
    from shlex import join

    from drgst.decide.labels.suggest import suggest_first

    with working(f"reading the graph and choosing {n} of its nodes"):
        graph, tables = _opened(data, source)
        found = suggest_first(graph, n, by)
    rows = [_row(row, graph.node_ids[row["node"]].item(), ()) for row in found.rows(None)]
    words = [word for edge in source.edges or () for word in ("--edges", edge)]
    words += [word for column in source.columns or () for word in ("--column", column)]
    again = join(["drgst", "classify", data, *words, "--labels"] if tables else ["drgst", "run", data, "--add-labels"])
    if tables and (graph.labels >= 0).any():  # the labels of the table stay
        first = join(["drgst", "classify", data, *words, "--label", source.labels or "label", "--out", "RUN"])
        again = f"{first} && drgst run --config RUN/config.toml --add-labels"
    return found.note, rows, again


def _opened(data: str, source: _Source) -> tuple[Graph, bool]:
    """The graph, and whether it is made of tables of any columns; their labels are read where a column has any."""
    from drgst.datasets.registry import data_source
    from drgst.tables.faults import TableError
    from drgst.tables.options import TableOptions
    from drgst.tables.read import read_graph

    table = Path(data).suffix in (".csv", ".parquet", ".gz") and not {"nodes", "edges"} & {Path(data).stem}
    if source.edges or source.columns or (table and Path(data).is_file()):
        options = table_options(source.columns or (), label=source.labels or "label")
        try:
            return read_graph(data, source.edges, TableOptions.of(**options)).graph, True
        except TableError:  # no label, or faults that the next step reports
            return read_graph(data, source.edges, TableOptions.of(**options, classes=UNKNOWN)).graph, True
    return opened(data_source(data), source.labels)[0], False


def _row(row: dict[str, Any], name: Any, classes: tuple[str, ...]) -> dict[str, Any]:
    """With the id of the node and the name of its predicted class, and an empty label."""
    predicted = "" if row["predicted"] is None else classes[row["predicted"]]
    confidence = None if row["confidence"] is None else round(row["confidence"], 5)
    rest = {k: v for k, v in row.items() if k != "node"}
    return {"id": name, "label": "", **rest, "predicted": predicted, "confidence": confidence}


def _forecast(console: Console, run: str) -> dict[str, Any]:
    from drgst.decide.labels.forecast import forecast
    from drgst.runs.run import load_result

    with working("fitting the recipe to parts of the labels"):
        found = forecast(load_result(run))
    say(console, *found.sentences())
    return {"forecast": found.document()}


def _table(rows: list[dict[str, Any]], predicted: bool) -> Table:
    from rich.text import Text

    table = (
        plain_table("node", "predicted", "confidence", "why", left=(0, 1, 3))
        if predicted
        else plain_table("node", "why", left=(0, 1))
    )
    for row in rows:
        middle = (Text(row["predicted"]), f"{row['confidence']:.1%}") if predicted else ()
        table.add_row(Text(str(row["id"])), *middle, Text(row["reason"]))
    return table
