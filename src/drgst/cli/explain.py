"""``drgst explain``: why a node was predicted as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import emit, get_console, plain_table, say, working
from drgst.cli.options import JsonOption, RunArgument, option

if TYPE_CHECKING:
    from rich.table import Table

    from drgst.decide.reasons import Explanation

app = typer.Typer(add_completion=False)

TITLES = {name: name for name in ("shared", "view", "feature", "neighbour")} | {"labelled": "labelled node"}


@app.command()
def explain(
    run: RunArgument,
    node: Annotated[str, typer.Argument(metavar="NODE", help="The id of a node.")],
    top: Annotated[int, option("N", "Reasons of each kind.", min=1)] = 8,
    json: JsonOption = False,
) -> None:
    """Explain a prediction: what it becomes without each feature, neighbour or view, the strongest first.

    Without a feature means that it does not tell this node or any other from the average one.
    """
    from drgst.decide.explain import explain as explain_node
    from drgst.runs.run import load_result

    with working(f"reading the run and explaining {node}"):
        found = explain_node(load_result(run), node)
    console = get_console(json)
    say(console, found.title)
    for kind, title in TITLES.items():
        if found.of_kind(kind):
            console.print(_table(found, kind, title, top))
    if found.reasons:
        say(console, found.words)
    if found.similar:
        words = ", ".join(f"{name} ({label}, {similarity:.2f})" for name, label, similarity in found.similar)
        say(console, f"most similar labelled nodes: {words}")
    if json:
        emit({"run": str(run), **found.to_dict(top)})


def _table(found: Explanation, kind: str, title: str, top: int) -> Table:
    from rich.text import Text

    reasons = found.of_kind(kind, top)
    split = any(reason.own is not None for reason in reasons)
    table = plain_table(
        title, "", "pull", *(["of which own"] if split else []), f"p({found.label}) without it", left=(0, 1)
    )
    for reason in reasons:
        own = [f"{reason.own:+.2f}"] if reason.own is not None else []
        changed = "" if reason.label == found.label else f" ({reason.label})"
        probability = f"{reason.probability:.3f}{changed}"
        table.add_row(Text(reason.name), Text(reason.detail), f"{reason.pull:+.2f}", *own, Text(probability))
    return table
