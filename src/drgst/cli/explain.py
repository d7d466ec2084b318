"""``drgst explain``: why a node was predicted as it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import emit, get_console
from drgst.cli.options import JsonOption

if TYPE_CHECKING:
    from rich.table import Table

    from drgst.decide.explain import Explanation

app = typer.Typer(add_completion=False)

TITLES = {"view": "view", "feature": "feature", "neighbour": "neighbour", "labelled": "labelled node"}


@app.command()
def explain(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")],
    node: Annotated[str, typer.Argument(metavar="NODE", help="The id of a node.")],
    top: Annotated[int, typer.Option(min=1, metavar="N", help="Reasons of each kind.")] = 8,
    json: JsonOption = False,
) -> None:
    """Explain a prediction: what it becomes without each feature, neighbour or view, the strongest first."""
    from drgst.decide.explain import explain as explain_node
    from drgst.runs.run import load_result

    found = explain_node(load_result(run), node)
    console = get_console(json)
    console.print(f"{found.id}: {found.label}, probability {found.probability:.3f}", soft_wrap=True)
    for kind, title in TITLES.items():
        if found.of_kind(kind):
            console.print(_table(found, kind, title, top))
    if found.reasons:
        words = f"pull: how far the log-odds of {found.label} fall without it; below 0 it speaks against {found.label}"
        console.print(words, soft_wrap=True)
    if found.similar:
        words = ", ".join(f"{name} ({label}, {similarity:.2f})" for name, label, similarity in found.similar)
        console.print(f"most similar labelled nodes: {words}", soft_wrap=True)
    if json:
        emit({"run": str(run), **found.to_dict(top)})


def _table(found: Explanation, kind: str, title: str, top: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(title)
    table.add_column("")
    table.add_column("pull", justify="right")
    table.add_column(f"p({found.label}) without it", justify="right")
    for reason in found.of_kind(kind, top):
        changed = "" if reason.label == found.label else f" ({reason.label})"
        probability = f"{reason.probability:.3f}{changed}"
        table.add_row(Text(reason.name), Text(reason.detail), f"{reason.pull:+.2f}", Text(probability))
    return table
