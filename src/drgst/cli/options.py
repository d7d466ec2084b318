"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

JobsOption = Annotated[int | None, typer.Option("--jobs", min=1, help="Processes.", show_default="one per core")]
JsonOption = Annotated[bool, typer.Option("--json", help="End standard output with one line of JSON.")]
PoolOption = Annotated[
    str, typer.Option("--pool", help="Nodes that may be pseudo-labelled: unlabelled, or all-but-validation.")
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
