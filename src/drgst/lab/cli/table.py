"""``drgst lab table``: the paper's tables from the runs of a store, ours beside the published figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import get_console, write_data
from drgst.cli.options import PoolOption, RootOption, SourceOption, VariantOption, out_file

if TYPE_CHECKING:
    from drgst.lab.tables.table import Table

app = typer.Typer(add_completion=False)
NAMES = ("main", "ablation", "datasets", "calibration", "time")


@app.command()
def table(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.")],
    store: SourceOption = Path("runs.db"),
    how: Annotated[str, typer.Option("--format", help="text, md, latex, html or csv.")] = "text",
    against: Annotated[
        str | None,
        typer.Option(help="Recipe to compare with.", show_default="gcn; ablation: DR-GST in full"),
    ] = None,
    variant: VariantOption = "default",
    pool: PoolOption = "unlabelled",
    validation: Annotated[str, typer.Option(help="public, or none.")] = "public",
    paper: Annotated[bool, typer.Option("--paper", help="Add the cells that only the paper has.")] = False,
    out: Annotated[
        Path | None, typer.Option(parser=out_file, metavar="FILE", help="Write here instead of standard output.")
    ] = None,
    root: RootOption = None,
) -> None:
    """Make a table of the runs in a store, beside the paper's figures for the same cells."""
    from drgst.errors import SettingError, unknown
    from drgst.files import STANDARD_OUTPUT, write_text
    from drgst.lab.statistics.results import RunFilter, check_any, check_recipe, read_runs, runs_by_cell
    from drgst.lab.tables.registry import make_table
    from drgst.lab.tables.table import FORMATS, render

    if name not in NAMES:
        raise SettingError(unknown("table", name, NAMES))
    if how not in FORMATS:
        raise SettingError(unknown("format", how, FORMATS))
    rows, wanted = read_runs(store), RunFilter(variant, pool, validation)
    cells = runs_by_cell(rows, wanted)
    if name == "datasets":
        made = _datasets({row["dataset"] for row in rows}, root)
    else:
        check_any(cells, rows, wanted)
        if against is not None:
            check_recipe(against, cells)
        made = make_table(name, cells, against, paper)
    text = render(made, how)
    if out is None:
        write_data(text)
    else:
        write_text(out, text)
        get_console(stderr=out == STANDARD_OUTPUT).print(f"{out}", soft_wrap=True)


def _datasets(names: set[str], root: str | None) -> Table:
    """The data sets of the paper, with statistics of those that the store has runs of and that can be opened here."""
    from drgst.datasets.load import load
    from drgst.datasets.registry import DATASETS
    from drgst.errors import DrgstError
    from drgst.graph.stats import statistics
    from drgst.lab.tables.resources import datasets

    found = {}
    for name in sorted(names & DATASETS.keys()):
        try:
            found[name] = statistics(load(name, root))
        except DrgstError as error:
            get_console(stderr=True).print(f"{name} is left empty: {error}", soft_wrap=True)
    return datasets(found)
