"""``drgst review``: given labels that look wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drgst.cli.console import emit, get_console, plain_table, say
from drgst.cli.options import JsonOption, RunArgument, option, out_file

app = typer.Typer(add_completion=False)


@app.command()
def review(
    run: RunArgument,
    out: Annotated[Path | None, option("FILE", "CSV file to write, too.", parser=out_file)] = None,
    json: JsonOption = False,
) -> None:
    """Review given labels: those that predictions without them contradict, the most doubtful first."""
    from rich.text import Text

    from drgst.decide.review import review as review_result
    from drgst.files import csv_text, write_text
    from drgst.runs.run import load_result

    result = load_result(run)
    found = review_result(result)
    rows = found.rows(result.node_ids, result.model.class_names)
    console = get_console(json)
    if rows:
        table = plain_table("node", "given", "p(given)", "suggested", "p(suggested)", left=(0, 1, 3))
        for row in rows:
            cells = (f"{row['p_given']:.1%}", Text(row["suggested"]), f"{row['p_suggested']:.1%}")
            table.add_row(Text(str(row["id"])), Text(row["given"]), *cells)
        console.print(table)
    total = found.nodes.size
    words = f"{found.contradicted:,} of {total:,} given labels are contradicted by predictions without them"
    say(console, f"{words}{result.never_held_out}")
    if out is not None:
        header = ("id", "given", "suggested", "p_given", "p_suggested")
        write_text(out, csv_text([header, *(row.values() for row in rows)]))
        say(console, f"written to {out}")
    if json:
        counts = {"labels": int(total), "never_held_out": int(result.train.size - total)}
        emit({"run": str(run), **counts, "contradicted": found.contradicted, "rows": rows})
