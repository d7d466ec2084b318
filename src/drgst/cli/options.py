"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drgst.errors import SettingError
from drgst.files import STANDARD_OUTPUT


def out_file(name: str) -> Path:
    """The path that ``--out`` names; ``-`` is standard output."""
    return STANDARD_OUTPUT if name == "-" else Path(name)


def out_folder(name: str) -> Path:
    """The folder that ``--out`` names."""
    if name == "-":
        raise SettingError("--out names a folder here, so it can't be - (standard output)")
    return Path(name)


JobsOption = Annotated[int | None, typer.Option("--jobs", min=1, help="Processes.", show_default="one per core")]
JsonOption = Annotated[bool, typer.Option("--json", help="End standard output with one line of JSON.")]
PoolOption = Annotated[
    str, typer.Option("--pool", help="Nodes that may be pseudo-labelled: unlabelled, or all-but-validation.")
]
PriorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        metavar="CLASS=SHARE",
        help="Share of a class among the unlabelled nodes: fraud=0.02; repeatable.",
    ),
]
RootOption = Annotated[
    str | None, typer.Option("--root", help="Folder with the data sets' files.", envvar="DRGST_DATA", show_envvar=True)
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of all runs.")
]
SourceOption = Annotated[Path, typer.Option("--store", help="Store of runs, or its export (.csv, .parquet).")]
StoreOption = Annotated[Path, typer.Option("--store", help="File that keeps the runs.")]
VariantOption = Annotated[
    str, typer.Option("--variant", help="Settings: default, validation (best by validation), or as in threshold=0.4.")
]

# options of tables with columns of any type, as in drgst.from_tables
EdgesOption = Annotated[list[str] | None, typer.Option("--edges", metavar="FILE", help="Edge table; repeatable.")]
LabelOption = Annotated[str | None, typer.Option("--label", metavar="COLUMN", help="Label column of the node table.")]
LabelsOption = Annotated[
    str | None, typer.Option("--labels", metavar="FILE", help="Labels of a graph file: CSV, or a node attribute.")
]
IdOption = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Id column of the node table.")]
FromOption = Annotated[str | None, typer.Option("--source", metavar="COLUMN", help="Source column of the edges.")]
ToOption = Annotated[str | None, typer.Option("--target", metavar="COLUMN", help="Target column of the edges.")]
WeightOption = Annotated[str | None, typer.Option("--weight", metavar="COLUMN", help="Weight column of the edges.")]
TimeOption = Annotated[str | None, typer.Option("--time", metavar="COLUMN", help="Time column of the edges.")]
DropOption = Annotated[list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Column to leave out.")]
NumericOption = Annotated[list[str] | None, typer.Option("--numeric", metavar="COLUMN", help="Column of numbers.")]
CategoryOption = Annotated[list[str] | None, typer.Option("--category", metavar="COLUMN", help="Column of categories.")]
TextOption = Annotated[list[str] | None, typer.Option("--text", metavar="COLUMN", help="Column of free text.")]
DateOption = Annotated[list[str] | None, typer.Option("--date", metavar="COLUMN", help="Column of dates.")]
EndpointsOption = Annotated[
    str | None, typer.Option("--unknown-endpoints", help="Ends of edges that are no nodes: refuse, or add as nodes.")
]
AggregateOption = Annotated[
    str | None, typer.Option("--aggregate", help="Repeated edges: sum, count, max or last.", show_default="sum")
]


def given(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}
