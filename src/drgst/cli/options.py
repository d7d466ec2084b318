"""Options that several commands have, and how their values are parsed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.errors import SettingError, unknown
from drgst.files import STANDARD_OUTPUT

if TYPE_CHECKING:
    from drgst.graph.core import Graph
    from drgst.runs.cluster import Cluster

UNKNOWN = ("?", "??")  # the classes of a graph without labels

# kind or role of a column -> keyword of from_tables
COLUMN_KINDS = {
    **{name: name for name in ("id", "source", "target", "weight", "time", "category", "text", "date", "drop")},
    "number": "numeric",
}
ROLES = ("id", "source", "target", "weight", "time")  # one column each


def opened(source: str, labels: str | None = None) -> tuple[Graph, str]:
    """The graph of a name or path, and "", or why it has no labels: its classes are then :data:`UNKNOWN`."""
    from drgst.datasets.load import open_graph
    from drgst.errors import NoLabels

    try:
        return open_graph(source, labels=labels), ""
    except NoLabels as error:
        return open_graph(source, classes=UNKNOWN, labels=labels), str(error)


def out_file(name: str) -> Path:
    """The path that ``--out`` names; ``-`` is standard output."""
    return STANDARD_OUTPUT if name == "-" else Path(name)


def out_folder(name: str) -> Path:
    """The folder that ``--out`` names."""
    if name == "-":
        raise SettingError("--out names a folder here, so it can't be - (standard output)")
    return Path(name)


def own_recipe(text: str) -> str:
    """One recipe, or several separated by commas; ``module:function`` may be in a file of the working folder."""
    for name in text.split(","):
        if ":" in name:
            typed_class(name.strip(), "recipe")
    return text


def own_backbone(text: str) -> str:
    """``key=value``; the module of ``backbone=module:Class`` may be in a file of the working folder."""
    for word in text.replace(",", " ").split():
        key, _, value = word.partition("=")
        if key == "backbone" and ":" in value:
            typed_class(value)
    return text


def typed_class(text: str, kind: str = "backbone") -> str:
    """``module:Class``, imported: what the user types may be imported, what a file names may not."""
    from drgst.extras import import_typed

    import_typed(text, kind)
    return text


def table_options(columns: Iterable[str], links: Iterable[str] = (), **others: Any) -> dict[str, Any]:
    """Keywords of :func:`drgst.from_tables`: ``["joined=date", "no=id"]``, links, and ``others`` that are not None."""
    found: dict[str, Any] = {name: value for name, value in others.items() if value is not None}
    if given := [parse_link(text) for text in links]:
        found["links"] = given
    for text in columns:
        name, equals, kind = text.rpartition("=")
        if not equals or not name:
            raise SettingError(f"--column takes NAME=KIND, not {text!r} (kinds: {', '.join(sorted(COLUMN_KINDS))})")
        if kind not in COLUMN_KINDS:
            raise SettingError(unknown("kind of column", kind, COLUMN_KINDS))
        if kind in ROLES and kind in found:
            raise SettingError(f"--column names two columns as {kind}: {found[kind]!r} and {name!r}")
        if kind in ROLES:
            found[kind] = name
        else:
            found.setdefault(COLUMN_KINDS[kind], []).append(name)
    return found


def parse_link(text: str) -> Any:
    """A column of the node table, or ``FILE`` or ``FILE:SOURCE-TARGET`` as :class:`drgst.Link`.

    The target ``*`` says that the file describes the entities in SOURCE.
    """
    from drgst.tables.options import Link

    file, _, ends = text.partition(":")
    if not (Path(file).is_file() or file.endswith((".csv", ".gz", ".tsv", ".parquet"))):
        return text
    source, dash, target = ends.partition("-")
    if ends and not (source and dash and target):
        raise SettingError(f"--link takes FILE:SOURCE-TARGET, not {text!r}")
    return Link(file, source or None, target or None)


def parse_executor(text: str) -> Cluster | None:
    """``local``, or ``ray[:WORKERS][@HOST:PORT]``: a Ray cluster, by default 2 workers on the one of this machine."""
    head, _, address = text.partition("@")
    name, _, workers = head.partition(":")
    if name == "local" and head == text == name:
        return None
    if name != "ray" or not (workers or "2").isdigit() or int(workers or 2) < 1:
        allowed = "local, ray, ray:WORKERS or ray:WORKERS@HOST:PORT"
        raise SettingError(f"unknown executor {text!r} (allowed: {allowed})")
    from drgst.runs.cluster import Cluster

    return Cluster(int(workers or 2), address or None)


def option(metavar: str, text: str, *names: str, default: str | None = None, **more: Any) -> Any:
    """An option with ``metavar`` for its value and one line of help; ``default`` describes the default in words."""
    return typer.Option(*names, metavar=metavar, help=text, show_default=True if default is None else default, **more)


RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a finished run.")]
JsonOption = Annotated[bool, typer.Option("--json", help="End standard output with one line of JSON.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the run in the folder.")]
PriorOption = Annotated[
    list[str] | None, option("CLASS=SHARE", "Share of a class among nodes without label; repeatable.", "--prior")
]
RecipeOption = Annotated[str, option("NAME", "The method.", "--recipe", parser=own_recipe)]
RunFolderOption = Annotated[
    Path | None, option("FOLDER", "Run folder, by default in runs/.", "--out", parser=out_folder)
]
SetOption = Annotated[
    list[str] | None, option("KEY=VALUE", "Change a setting; repeatable.", "--set", parser=own_backbone)
]
OutOption = Annotated[
    Path | None, option("FILE", "File to write; standard output without it.", "--out", parser=out_file)
]

# of the laboratory
JobsOption = Annotated[int | None, option("N", "Processes.", "--jobs", default="one per core", min=1)]
PoolOption = Annotated[str, option("RULE", "Nodes to pseudo-label: unlabelled, or all-but-validation.", "--pool")]
SourceOption = Annotated[Path, option("FILE", "Store of runs, or its export (.csv, .parquet).", "--store")]
StoreOption = Annotated[Path, option("FILE", "File that keeps the runs.", "--store")]
VariantOption = Annotated[
    str, option("TEXT", "default, validation (best by validation), or as threshold=0.4.", "--variant")
]

# of tables with columns of any type
EdgesOption = Annotated[list[str] | None, option("FILE", "Edge table; repeatable.", "--edges")]
ColumnOption = Annotated[
    list[str] | None,
    option(
        "NAME=KIND",
        "What a column is: id, source, target, weight, time; number, category, text, date, drop. Repeatable.",
        "--column",
    ),
]
LinkOption = Annotated[
    list[str] | None,
    option("COLUMN|FILE", "Rows that share a value: a column, or FILE[:SOURCE-TARGET] of links. Repeatable.", "--link"),
]
LabelsOption = Annotated[
    str | None, option("FILE|NAME", "Labels of a graph file: a CSV, or a node attribute.", "--labels")
]
