"""``drgst data``: list, get, show, check and split graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drgst.cli.console import emit, get_console, refuse, say, write_data
from drgst.cli.options import UNKNOWN, JsonOption, LabelsOption, OutOption, opened, option

if TYPE_CHECKING:
    from drgst.datasets.registry import DataSet
    from drgst.graph.core import Graph
    from drgst.graph.split import Split
    from drgst.graph.stats import Statistics

app = typer.Typer(help="List, get, show, check and split graphs.", no_args_is_help=True, add_completion=False)

Source = Annotated[
    str, typer.Argument(metavar="GRAPH", help="A data set, a folder of tables, a table, an .npz or a graph file.")
]


@app.command("list")
def list_datasets() -> None:
    """List the data sets that drgst knows, and where each comes from."""
    from drgst.cli.output import dataset_table
    from drgst.datasets.registry import DATASETS

    get_console().print(dataset_table([_dataset_row(dataset) for dataset in DATASETS.values()]))


@app.command()
def get(names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets to get.")]) -> None:
    """Get data sets from a data folder, the cache or the internet."""
    from drgst.cli.output import progress_bar
    from drgst.datasets import load as datasets
    from drgst.datasets.registry import find_dataset

    wanted = [find_dataset(name).name for name in names]  # a typing error is reported before anything is downloaded
    console = get_console()
    for name in wanted:
        with progress_bar(console, name) as progress:
            graph = datasets.load(name, None, progress)
        console.print(f"{name}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges")


@app.command()
def show(source: Source, labels: LabelsOption = None, json: JsonOption = False) -> None:
    """Show statistics: sizes, homophily and class sizes."""
    from drgst.cli.output import print_statistics

    graph = _read(source, labels)
    figures = _figures(graph)
    print_statistics(get_console(json), graph, figures)
    if json:
        emit({**figures.to_dict(), "splits": [_sizes(split) for split in graph.splits], "notes": list(graph.notes)})


@app.command()
def check(source: Source, labels: LabelsOption = None, json: JsonOption = False) -> None:
    """Check a graph: all faults are listed and end with exit code 2.

    drgst classify NODES --check does so for tables of any columns.
    """
    from drgst.tables.faults import TableError

    try:
        graph = _read(source, labels)
    except TableError as error:
        refuse(error, json, columns=True)
    for split in graph.splits:
        split.check(graph)
    figures, console = _figures(graph), get_console(json)
    remarks = _remarks(figures)
    say(console, *(f"- {line}" for line in (*graph.notes, *remarks)))
    console.print(f"{graph.name} has no faults: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges")
    if json:
        emit({"ok": True, **figures.to_dict(), "notes": list(graph.notes), "remarks": remarks})


@app.command()
def split(
    source: Source,
    per_class: Annotated[int | None, option("N", "Training labels per class.", min=1)] = None,
    fraction: Annotated[float | None, option("SHARE", "Share of each class to train on, in a random split.")] = None,
    val: Annotated[str | None, option("N", "Validation nodes: a number or a fraction.")] = None,
    test: Annotated[str | None, option("N", "Test nodes: a number or a fraction.")] = None,
    seed: Annotated[int, option("N", "Seed of the draw.", min=0)] = 0,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Split a graph into training, validation and test nodes.

    --per-class draws from its own training nodes as in the paper, or at random where it has none.
    """
    from drgst.datasets.load import open_graph
    from drgst.files import STANDARD_OUTPUT
    from drgst.graph.split import per_class_split, public_split, random_split
    from drgst.io.split_files import save_split, to_json

    graph = open_graph(source)
    k = 20 if per_class is None and fraction is None else per_class
    if graph.split is None or fraction is not None or val or test:
        sizes: dict[str, Any] = {"val": _amount("val", val), "test": _amount("test", test)}
        made = random_split(graph, per_class=k, fraction=fraction, seed=seed, **sizes)
    else:
        made = public_split(graph) if per_class is None else per_class_split(graph, per_class, seed)
    if out is None:
        write_data(to_json(made, graph) + "\n")
    else:
        save_split(made, graph, out)
    get_console(json or out in (None, STANDARD_OUTPUT)).print(f"{graph.name}: {made!r}")
    if json and out is not None:
        emit({"graph": graph.name, "seed": seed, **_sizes(made), "out": str(out)})


@app.command()
def build(
    tables: Annotated[Path, typer.Argument(metavar="TABLES", help="A folder with nodes.* and edges.* (CSV, Parquet).")],
    out: Annotated[Path, typer.Argument(metavar="FOLDER", help="The graph folder to write.")],
) -> None:
    """Build a graph folder from tables.

    It opens like any other graph, but at once: its arrays are mapped into memory and shared by processes.
    """
    from drgst.io.folder import build_graph_folder

    graph = build_graph_folder(tables, out)
    console = get_console()
    for note in graph.notes:
        console.print(f"- {note}")
    console.print(f"{out}: {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {graph.num_features:,} features")


def _read(source: str, labels: str | None) -> Graph:
    """The graph, with a note where it has no labels."""
    graph, without = opened(source, labels)
    return graph.with_(notes=(*graph.notes, without)) if without else graph


def _figures(graph: Graph) -> Statistics:
    from dataclasses import replace

    from drgst.graph.stats import statistics

    found = statistics(graph)
    return replace(found, classes=0, label_counts={}) if graph.class_names == UNKNOWN else found


def _amount(name: str, text: str | None) -> int | float | None:
    from drgst.errors import SplitError

    if text is None:
        return None
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise SplitError(f"--{name} is {text!r}, but must be a number of nodes or a fraction below 1") from None


def _sizes(made: Split) -> dict[str, Any]:
    return {"name": made.name, **{part: int(getattr(made, part).size) for part in ("train", "val", "test", "pool")}}


def _dataset_row(dataset: DataSet) -> dict[str, Any]:
    """The figures of the paper, with the pairs that the files hold, and where the files are."""
    from drgst.datasets.fetch import cache_folder, root_folder

    figures = dataset.paper
    row = {"name": dataset.name, "nodes": figures.nodes, "edges": figures.pairs}
    row |= {"features": figures.features, "classes": figures.classes}
    for folder in (root_folder(None), cache_folder() / "data"):
        if folder is not None and all((folder / file.path).exists() for file in dataset.files):
            return {**row, "place": str(folder)}
    return {**row, "place": "part of drgst" if dataset.name == "cora" else "to be downloaded"}


def _remarks(figures: Statistics) -> list[str]:
    """What is allowed, but worth knowing."""
    facts = (
        (figures.isolated, "nodes have no edge"),
        (figures.nodes - figures.labelled, "nodes have no label"),
        (sum(count < 3 for count in figures.label_counts.values()), "classes have fewer than 3 labelled nodes"),
    )
    remarks = [f"{count:,} {what}" for count, what in facts if count]
    return remarks if figures.features else [*remarks, "there are no features"]
