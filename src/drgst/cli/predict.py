"""``drgst predict``: the predictions of a run, or of its model on another graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import emit, get_console, refuse, say, write_data
from drgst.cli.options import EdgesOption, JsonOption, option, out_file, typed_class

app = typer.Typer(add_completion=False)


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or of a saved model.")],
    graph: Annotated[str | None, typer.Argument(metavar="GRAPH", help="Another graph with the same features.")] = None,
    nodes: Annotated[str | None, option("FILE", "Node table with new rows, for a run of drgst classify.")] = None,
    edges: EdgesOption = None,
    alone: Annotated[bool, typer.Option("--alone", help="Leave out the nodes and edges of the run.")] = False,
    backbone: Annotated[
        str | None, option("MODULE:CLASS", "Your own network, which the model names.", parser=typed_class)
    ] = None,
    out: Annotated[Path | None, option("FILE", "CSV or .parquet; standard output without it.", parser=out_file)] = None,
    json: JsonOption = False,
) -> None:
    """Predict: CSV with id, label, confidence and the probability of each class.

    Without GRAPH or --nodes: for the nodes of the run itself, with gain, stage and given labels. With --nodes: for the
    new rows, whose columns are read as in the run and whose edges may lead to its nodes; nothing is fitted again. The
    probabilities of new nodes depend on the other new nodes. In a GRAPH that begins with the nodes of the run, these
    keep its predictions.
    """
    del backbone  # it is imported already
    from drgst.errors import SettingError
    from drgst.runs.run import predict as predict_graph
    from drgst.runs.run import predict_tables
    from drgst.tables.faults import TableError

    if nodes is None and (edges or alone):
        raise SettingError("--edges and --alone need --nodes, the table with the new rows")
    if nodes is not None and graph is not None:
        raise SettingError("GRAPH and --nodes are both given: predict a graph, or the rows of a table")
    try:
        found = predict_graph(run, graph) if nodes is None else predict_tables(run, nodes, edges, alone)
    except TableError as error:
        refuse(error, json)
    if out is not None:
        found.write(out)
    elif not json:
        for piece in found.csv_pieces():
            write_data(piece)
    console = get_console(stderr=True)
    say(console, *(f"- {note}" for note in found.notes))
    rows, labels = len(found.ids), found.counts
    counts = ", ".join(f"{name} {count:,}" for name, count in labels.items()) or "every row is a node of the run"
    right = "" if found.accuracy is None else f"; accuracy {found.accuracy:.1%} on the nodes of known label"
    written = "" if out is None else f"; written to {out}"
    say(console, f"{rows:,} nodes: {counts}{right}{written}")
    if json:
        where = None if out is None else str(out)
        facts = {"nodes": rows, "labels": labels, "accuracy": found.accuracy, "out": where, "notes": found.notes}
        emit({"run": str(run), "graph": graph, **facts})
