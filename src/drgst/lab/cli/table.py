"""``drgst lab table``: the paper's tables from the runs of a store, beside the published figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import get_console, write_data
from drgst.cli.options import PoolOption, SourceOption, VariantOption
from drgst.files import printable

if TYPE_CHECKING:
    from drgst.lab.tables.layout import ResultTable

app = typer.Typer(add_completion=False)
NAMES = ("main", "ablation", "datasets", "calibration", "time", "graphs", "ranks")


@app.command()
def table(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.")],
    store: SourceOption = Path("runs.db"),
    how: Annotated[str, typer.Option("--format", help="text, md, latex, html or csv.")] = "text",
    against: Annotated[
        str | None, typer.Option(help="Recipe to compare with.", show_default="gcn; ablation: DR-GST in full")
    ] = None,
    variant: VariantOption = "default",
    pool: PoolOption = "unlabelled",
    validation: Annotated[str, typer.Option(help="public, none, or a number such as 30.")] = "public",
) -> None:
    """Print a table of the runs in a store, beside the paper's figures for the same cells."""
    from drgst.errors import SettingError, unknown
    from drgst.lab.store.cells import RunFilter, check_any, check_recipe, read_runs, runs_by_cell
    from drgst.lab.tables.layout import check_format, render
    from drgst.lab.tables.runs import make_table

    if name not in NAMES:
        raise SettingError(unknown("table", name, NAMES))
    check_format(how)
    rows, wanted = read_runs(store), RunFilter(variant, pool, validation)
    if name == "datasets":
        made = _datasets({row["dataset"] for row in rows})
    else:
        cells = runs_by_cell(rows, wanted)
        check_any(cells, rows, wanted)
        if against is not None:
            check_recipe(against, cells)
        made = make_table(name, cells, against)
    write_data(printable(render(made, how)))  # names of a store from elsewhere


def _datasets(names: set[str]) -> ResultTable:
    """The data sets of the paper, with statistics of those that the store has runs of and that can be opened here."""
    from drgst.datasets.load import load
    from drgst.datasets.registry import DATASETS
    from drgst.errors import DrgstError
    from drgst.graph.stats import statistics
    from drgst.lab.tables.runs import datasets

    found = {}
    for name in sorted(names & DATASETS.keys()):
        try:
            found[name] = statistics(load(name))
        except DrgstError as error:
            get_console(stderr=True).print(f"{name} is left empty: {error}", soft_wrap=True)
    return datasets(found)
