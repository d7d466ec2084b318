"""``drgst predict``: the predictions of a run, or of its model on another graph."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import JsonOption, RootOption, emit, people
from drgst.files import write_text

if TYPE_CHECKING:
    from drgst.runs.predict import Predictions

app = typer.Typer(add_completion=False)


@app.command()
def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or of a saved model.")],
    graph: Annotated[
        str | None,
        typer.Argument(metavar="[GRAPH]", help="Another graph with the same features; it needs no labels."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file to write; standard output without it.")] = None,
    root: RootOption = None,
    json: JsonOption = False,
) -> None:
    """Predict: CSV with id, label and confidence of every node (and gain and stage on the run's own graph)."""
    from drgst.graph.io.open import open_graph
    from drgst.runs import predict as predictions
    from drgst.runs.model import load_model_files

    if graph is None:
        made = predictions.of_run(run)
    else:
        model = load_model_files(run).model
        made = predictions.of_model(model, open_graph(graph, root, model.class_names))
    if out is not None:
        write_text(out, made.text)
    elif not json:
        sys.stdout.write(made.text)
    people(as_json=True).print(_remark(made, out), soft_wrap=True)
    if json:
        nodes, where = sum(made.counts.values()), None if out is None else str(out)
        emit(
            {
                "run": str(run),
                "graph": graph,
                "nodes": nodes,
                "labels": made.counts,
                "accuracy": made.accuracy,
                "out": where,
            }
        )


def _remark(made: Predictions, out: Path | None) -> str:
    """How many nodes got which label, how many rightly where that is known, and where they are."""
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(made.counts.items(), key=lambda c: -c[1]))
    right = "" if made.accuracy is None else f"; {made.accuracy:.1%} of the known labels are met"
    where = "" if out is None else f"; written to {out}"
    return f"{sum(made.counts.values()):,} nodes: {counts}{right}{where}"
