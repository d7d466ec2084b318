"""``drgst suggest``: which nodes to label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import emit, get_console, working
from drgst.cli.options import JsonOption, out_file

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(add_completion=False)


@app.command()
def suggest(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")],
    n: Annotated[int, typer.Option("--n", "-n", help="How many nodes.")] = 20,
    out: Annotated[
        Path | None, typer.Option(parser=out_file, metavar="FILE", help="CSV file to write as well.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Suggest which nodes to label next: those whose labels would be most informative, and not all similar.

    Each is a typical node of high information gain in one of n clusters of unlabelled nodes.
    """
    from drgst.errors import RunError
    from drgst.files import STANDARD_OUTPUT, csv_text, write_text
    from drgst.runs.run import load_result

    with working(f"reading the run and clustering its unlabelled nodes into {n} groups"):
        result = load_result(run)
        found = result.suggest(n)
    names = result.model.class_names
    rows = [
        {"id": result.node_ids[row.pop("node")], **row, "predicted": names[row["predicted"]]}
        for row in result.suggestion_rows(found)
    ]
    if not rows:
        raise RunError(f"every node of the run in {run} is labelled, so there is none to suggest")
    console = get_console(json or out == STANDARD_OUTPUT)
    console.print(_table(rows, found.measure))
    if len(rows) < n:
        console.print(f"only {len(rows):,} nodes are unlabelled, so no more can be suggested", soft_wrap=True)
    if out is not None:
        write_text(out, csv_text([rows[0], *(row.values() for row in rows)]))
        console.print(f"written to {out}", soft_wrap=True)
    if json:
        emit({"run": str(run), "measure": found.measure, "suggestions": rows})


def _table(rows: list[dict[str, Any]], measure: str) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    titles = ("node", measure, "predicted", "confidence", "represents")
    table = Table(*titles, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for place in (1, 3, 4):
        table.columns[place].justify = "right"
    for row in rows:
        score, confidence, size = f"{row['score']:#.3g}", f"{row['confidence']:.1%}", f"{row['cluster_size']:,} similar"
        table.add_row(Text(str(row["id"])), score, Text(row["predicted"]), confidence, size)
    return table
