"""``drgst predict``: the predictions of a run, or of its model on another graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import emit, get_console, write_data
from drgst.cli.options import JsonOption, RootOption, out_file
from drgst.files import write_text

app = typer.Typer(add_completion=False)


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or of a saved model.")],
    graph: Annotated[
        str | None,
        typer.Argument(metavar="[GRAPH]", help="Another graph with the same features; it needs no labels."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=out_file, metavar="FILE", help="CSV file to write; standard output without it."),
    ] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Predict: CSV with id, label and confidence of every node (and gain and stage on the run's own graph)."""
    from drgst.graph.datasets.load import open_graph
    from drgst.runs.model import Model
    from drgst.runs.predict import of_model, of_run

    if graph is None:
        found = of_run(run)
    else:
        model = Model.load(run)
        found = of_model(model, open_graph(graph, root, model.class_names))
    if out is not None:
        write_text(out, found.text)
    elif not json:
        write_data(found.text)
    nodes, labels = len(found.labels), Counter(found.labels)
    counts = ", ".join(f"{name} {count:,}" for name, count in labels.most_common())
    right = "" if found.accuracy is None else f"; accuracy {found.accuracy:.1%} on the nodes of known label"
    written = "" if out is None else f"; written to {out}"
    get_console(stderr=True).print(f"{nodes:,} nodes: {counts}{right}{written}", soft_wrap=True)
    if json:
        where = None if out is None else str(out)
        facts = {"nodes": nodes, "labels": labels, "accuracy": found.accuracy, "out": where}
        emit({"run": str(run), "graph": graph, **facts})
