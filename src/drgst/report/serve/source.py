"""What the workbench was given: a finished run, tables or a graph, as one object that can be fitted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from shlex import join, quote
from typing import Any

import numpy as np

from drgst.datasets.load import open_graph
from drgst.datasets.registry import data_source
from drgst.errors import NoLabels, SettingError
from drgst.graph.core import Graph
from drgst.report.nodes import Column, Sample, feature_columns, run_columns, table_columns
from drgst.runs.added_labels import AddedLabel
from drgst.runs.config import OWN_RECIPE, RunConfig
from drgst.runs.folder import RunFolder, finished_run
from drgst.runs.result import Result
from drgst.runs.run import Run, load_result
from drgst.selftrain.problem import GraphCache
from drgst.tables.build import TableGraph
from drgst.tables.faults import TableError
from drgst.tables.labels import NO_LABEL
from drgst.tables.options import TableOptions
from drgst.tables.read import read_graph, table_paths
from drgst.tables.schema import TableSchema
from drgst.uncertainty.class_prior import class_shares, parse_shares

NONE = ("?", "??")  # the classes of a graph without labels, until there are labels
TABLES = (".csv", ".parquet", ".gz", ".tsv")


@dataclass(frozen=True)
class Given:
    """What the user states about tables: edge tables, the label column, classes where nothing is labelled, options."""

    edges: Sequence[str] = ()
    label: str | None = None
    classes: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # of from_tables
    words: Sequence[str] = ()  # the command-line options of ``options`` and ``prior``
    prior: Sequence[str] = ()  # CLASS=SHARE


@dataclass(frozen=True, eq=False)
class Source:
    """A graph with the labels that came with it, and how a run on it is made."""

    name: str
    folder: Path  # where labels and saved runs are written
    graph: Graph
    config: RunConfig
    classes: tuple[str, ...]  # that the user may choose from, before new ones
    result: Result | None = None  # of a finished run
    tables: TableGraph | None = None
    command: str = ""  # to which a labels file is appended to fit the same model

    @property
    def earlier(self) -> list[AddedLabel]:
        """Labels that were added to the run before."""
        return self.config.added()

    @property
    def is_labelled(self) -> bool:
        """Whether the graph came with a label."""
        return bool((self.graph.labels >= 0).any())

    @property
    def schema(self) -> TableSchema | None:
        """How the columns of tables are read."""
        return None if self.tables is None else self.tables.schema

    def run(self, labels: Sequence[AddedLabel], path: Path, cache: GraphCache) -> Run | None:
        """The run with the labels of the file ``path``, as ``drgst run --add-labels`` makes it.

        None where fewer than two classes have a label, or a class whose share is stated has none.
        """
        added = tuple(sorted({label.label for label in labels}))
        given = np.unique(self.graph.labels[self.graph.labels >= 0])
        known = {self.graph.class_names[c] for c in given} | set(added)
        stated = self.config.settings.get("prior")
        if len(known) < 2 or (stated and not parse_shares(stated).keys() <= known):
            return None
        graph = self.graph if self.is_labelled else self.graph.with_(class_names=added)
        config = replace(self.config, add_labels=str(path) if labels else None, known_sha256=None)
        return replace(Run.of(graph, config).sharing(cache), tables=self.tables)

    def columns(self, sample: Sample) -> tuple[list[Column], list[str]]:
        """The columns of the nodes, and notes."""
        if self.result is not None:
            return run_columns(self.graph, str(self.config.data), sample)
        if self.tables is None:
            return feature_columns(self.graph, sample), []
        schema = self.tables.schema
        return table_columns(self.graph, self.tables.table, schema.id, sample, hidden=schema.label)


def open_source(given: str, more: Given) -> Source:
    """The source that ``given`` names: the folder of a finished run, a node table, a graph or a data set."""
    if RunFolder(given).exists and more.prior:
        again = join(["drgst", "run", "--config", f"{given}/config.toml", *more.words, "--out", f"{given}-next"])
        raise SettingError(f"{given} is a finished run, which has its own class shares: change them with {again}")
    if RunFolder(given).exists:
        return _run_source(Path(given))
    path = Path(given)
    fixed = path.stem in ("nodes", "edges")  # a table of a graph folder
    if path.is_dir() and (more.label or more.options):
        return _folder_tables(path, more)
    if more.edges or more.label or more.options or (path.is_file() and path.suffix in TABLES and not fixed):
        return _table_source(path, more)
    data, command = data_source(given), ["drgst", "run", given, "--recipe", OWN_RECIPE, *more.words]
    try:
        graph = _opened(data, more)
    except TableError:
        if not path.is_dir():
            raise
        return _folder_tables(path, more)  # without a label, and with columns of any kind
    config = RunConfig(data=data, recipe=OWN_RECIPE, seed=0, per_class=None).with_defaults()
    return _fresh(graph, config, more, None, join([*command, "--add-labels"]))


def _opened(data: str, more: Given) -> Graph:
    try:
        return open_graph(data)
    except NoLabels:
        return open_graph(data, classes=more.classes or NONE)


def _run_source(path: Path) -> Source:
    finished_run(path)
    opener = cache(open_graph)
    result = load_result(path, opener)
    command = f"drgst run --config {path / 'config.toml'} --out {path}-next --add-labels"
    data, config = str(result.config.data), result.config
    try:
        graph = opener(data) if config.labels is None else open_graph(data, labels=config.labels)
    except NoLabels:
        graph = open_graph(data, classes=config.added_classes())
    classes = result.model.class_names
    return Source(result.run.graph.name, path, graph, result.config, classes, result, None, command)


def _folder_tables(path: Path, more: Given) -> Source:
    nodes, edges = table_paths(path)
    return _table_source(nodes, replace(more, edges=(*more.edges, str(edges))), path.resolve().name)


def _table_source(path: Path, more: Given, name: str | None = None) -> Source:
    words = [word for edge in more.edges for word in ("--edges", edge)] + list(more.words)
    labelled = {} if more.label is None else {"label": more.label}
    try:
        options = TableOptions.of(**more.options, **labelled, classes=None if labelled else more.classes or NONE)
        tables = read_graph(path, list(more.edges) or None, options)
    except TableError as error:
        if not labelled or [fault.message for fault in error.faults] != [NO_LABEL]:
            raise
        return _table_source(path, _without_label(more), name)
    graph = tables.graph if name is None else tables.graph.with_(name=name)
    command = join(["drgst", "classify", str(path), *words, "--labels"])
    if more.label is not None:
        out = join(["--out", f"runs/{graph.name}"])
        command = (
            f"{join(['drgst', 'classify', str(path), *words, '--label', more.label])} {out}\n"
            f"drgst run --config {quote(f'runs/{graph.name}/config.toml')} --add-labels"
        )
    return _fresh(graph, RunConfig(data=graph.name, recipe=OWN_RECIPE, seed=0), more, tables, command)


def _without_label(more: Given) -> Given:
    """The same with a label column that is empty left out."""
    drop = (*more.options.get("drop", ()), str(more.label))
    words = (*more.words, "--column", f"{more.label}=drop")
    return replace(more, label=None, options={**more.options, "drop": drop}, words=words)


def _fresh(graph: Graph, config: RunConfig, more: Given, tables: TableGraph | None, command: str) -> Source:
    folder = Path("runs") / f"{graph.name}-workbench"
    named = graph.class_names if graph.class_names != NONE else ()
    classes = tuple(dict.fromkeys([*named, *more.classes]))
    prior = ", ".join(more.prior)
    if prior:
        if classes:
            class_shares(parse_shares(prior), classes)  # refuse an unknown class before the first label
        config = replace(config, settings={**config.settings, "prior": prior})
    return Source(graph.name, folder, graph, config, classes, None, tables, command)


def runs_below(folder: Path) -> list[str]:
    """The finished runs below ``folder``, by path, at most three folders deep; symbolic links are not followed."""
    found = []
    for depth in ("*", "*/*", "*/*/*"):
        for path in folder.glob(depth):
            inside = path.resolve().is_relative_to(folder.resolve())
            if path.is_dir() and inside and RunFolder(path).finished:
                found.append(str(path.relative_to(folder)))
    return sorted(found)
