"""``drgst table``: the paper's tables from the runs of a store, ours beside the published figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drgst.cli.console import RootOption, people

if TYPE_CHECKING:
    from drgst.bench.results import CellName, Runs
    from drgst.report.table import Table

app = typer.Typer(add_completion=False)
NAMES = ("main", "ablation", "datasets", "calibration", "time")
Cells = dict["CellName", "Runs"]


@app.command()
def table(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.")],
    store: Annotated[Path, typer.Option(help="Store of runs, or its export (.csv, .parquet).")] = Path("runs.db"),
    how: Annotated[str, typer.Option("--format", help="text, md, latex or csv.")] = "text",
    against: Annotated[
        str | None,
        typer.Option(help="Recipe to compare with.", show_default="gcn; ablation: the whole; time: self-training"),
    ] = None,
    variant: Annotated[
        str,
        typer.Option(help="Settings: default, validation (the best by validation accuracy), or such as threshold=0.4."),
    ] = "default",
    pool: Annotated[str, typer.Option(help="unlabelled, or all-but-validation.")] = "unlabelled",
    validation: Annotated[str, typer.Option(help="public, or none.")] = "public",
    out: Annotated[Path | None, typer.Option(help="Write here instead of standard output.")] = None,
    root: RootOption = None,
) -> None:
    """Make a table of the runs in a store; cells that were not run are left empty."""
    from drgst.bench.results import Wanted, check_any, choose, read_runs
    from drgst.errors import SettingError, unknown
    from drgst.files import write_text
    from drgst.report.table import FORMATS, render

    if name not in NAMES:
        raise SettingError(unknown("table", name, NAMES))
    if how not in FORMATS:
        raise SettingError(unknown("format", how, FORMATS))
    rows, wanted = read_runs(store), Wanted(variant, pool, validation)
    cells = choose(rows, wanted)
    if name == "datasets":
        made = _datasets({row["dataset"] for row in rows}, root)
    else:
        check_any(cells, rows, wanted)
        made = _make(name, cells, against)
    text = render(made, how)
    if out is None:
        sys.stdout.write(text)
    else:
        write_text(out, text)
        people().print(f"{out}", soft_wrap=True)


def _make(name: str, cells: Cells, against: str | None) -> Table:
    from drgst.bench.results import check_recipe
    from drgst.report import tables_accuracy, tables_other

    if against is not None:
        check_recipe(against, cells)
    if name == "main":
        return tables_accuracy.main(cells, against or "gcn")
    if name == "ablation":
        return tables_accuracy.ablation(cells, against)
    if name == "calibration":
        return tables_other.calibration(cells)
    return tables_other.time(cells, against or "self-training")


def _datasets(names: set[str], root: str | None) -> Table:
    """With figures of the data sets by name that the store has runs of and that can be opened here."""
    from drgst.errors import DrgstError
    from drgst.graph.datasets.load import load
    from drgst.graph.datasets.registry import DATASETS
    from drgst.graph.stats import statistics
    from drgst.report.tables_other import datasets

    found = {}
    for name in sorted(names & DATASETS.keys()):
        try:
            found[name] = statistics(load(name, root))
        except DrgstError as error:
            people(as_json=True).print(f"{name} is left empty: {error}", soft_wrap=True)
    return datasets(found)
