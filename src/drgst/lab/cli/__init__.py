"""``drgst lab``: the commands of the laboratory."""

from __future__ import annotations

import typer

from drgst.cli import LazyGroup

# command -> the module whose ``app`` it is, and its line of help
COMMANDS = {
    "bench": ("drgst.lab.cli.bench", "Run a grid of data sets, labels per class, recipes and draws."),
    "table": ("drgst.lab.cli.table", "Make the paper's tables from the runs of a store."),
    "figure": ("drgst.lab.cli.figure", "Draw the paper's figures, from a store or from a run of their own."),
    "tune": ("drgst.lab.cli.tune", "Search settings by validation accuracy."),
    "reproduce": ("drgst.lab.cli.reproduce", "Run the paper's experiments and check its claims."),
    "label-curve": ("drgst.lab.cli.label_curve", "Compare choosers of labels: how accuracy grows with them."),
}


class Commands(LazyGroup):
    """The commands of ``drgst lab``."""

    table = COMMANDS


app = typer.Typer(
    cls=Commands, help="Measure methods and reproduce the paper.", no_args_is_help=True, add_completion=False
)


@app.callback()
def _group() -> None:
    """A callback makes typer build a group that has no commands of its own."""
