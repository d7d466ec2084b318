"""``drgst review``: given labels that look wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import emit, get_console
from drgst.cli.options import JsonOption, out_file

app = typer.Typer(add_completion=False)


@app.command()
def review(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")],
    n: Annotated[
        int | None, typer.Option("--n", "-n", min=1, metavar="N", help="How many labels.", show_default="all")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(parser=out_file, metavar="FILE", help="CSV file to write as well.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Review given labels: those that predictions without them contradict, the most doubtful first."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from drgst.decide.review import review as review_result
    from drgst.files import csv_text, write_text
    from drgst.runs.run import load_result

    result = load_result(run)
    found = review_result(result)
    rows = found.rows(result.node_ids, result.model.class_names, n)
    console = get_console(json)
    if rows:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        for title, justify in (("node", "left"), ("given", "left"), ("p(given)", "right"), ("suggested", "left")):
            table.add_column(title, justify=justify)  # type: ignore[arg-type]
        table.add_column("p(suggested)", justify="right")
        for row in rows:
            cells = (f"{row['p_given']:.1%}", Text(row["suggested"]), f"{row['p_suggested']:.1%}")
            table.add_row(Text(str(row["id"])), Text(row["given"]), *cells)
        console.print(table)
    total = found.nodes.size
    more = f", the first {len(rows):,} are shown" if len(rows) < found.contradicted else ""
    console.print(
        f"{found.contradicted:,} of {total:,} given labels are contradicted by predictions without them{more}",
        soft_wrap=True,
    )
    if out is not None:
        header = ("id", "given", "suggested", "p_given", "p_suggested")
        write_text(out, csv_text([header, *(row.values() for row in rows)]))
        console.print(f"written to {out}", soft_wrap=True)
    if json:
        emit({"run": str(run), "labels": int(total), "contradicted": found.contradicted, "rows": rows})
