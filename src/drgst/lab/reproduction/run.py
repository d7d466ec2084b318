"""Run what the store lacks, make tables and figures, decide the claims, and write the page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from drgst.datasets.load import open_graph
from drgst.datasets.registry import DATASETS
from drgst.errors import DrgstError, SettingError
from drgst.files import write_text
from drgst.graph.core import Graph
from drgst.graph.stats import statistics
from drgst.lab.experiments import variant_name
from drgst.lab.figures import registry
from drgst.lab.figures.request import Request
from drgst.lab.figures.toy_run import Toy
from drgst.lab.grid.grid import Grid
from drgst.lab.grid.make_runs import BenchResult
from drgst.lab.paper import dataset_order
from drgst.lab.reproduction.claims import decide_claims, write_claims
from drgst.lab.reproduction.page import Picture, Reproduction, render
from drgst.lab.reproduction.scale import Scale
from drgst.lab.statistics.results import EXPORTS, RunFilter, runs_by_cell, stored_rows
from drgst.lab.store import Store
from drgst.lab.store.export import to_csv
from drgst.lab.store.schema import COLUMNS
from drgst.lab.tables.accuracy import Cells
from drgst.lab.tables.registry import TABLES, make_table
from drgst.lab.tables.resources import datasets
from drgst.lab.tables.table import Table
from drgst.lab.tables.table import render as render_table
from drgst.report.style import check_matplotlib, save

_log = logging.getLogger("drgst")
RunGrid = Callable[[Grid, Store], BenchResult]


def reproduce(scale: Scale, out: Path, store: Path, run_grid: RunGrid | None = None) -> Reproduction:
    """Make the runs of ``scale`` that the store lacks, and write tables, figures, claims and the page to ``out``.

    Without ``run_grid`` no grid is run: the page shows what the store, or its export, holds.
    """
    check_matplotlib()
    made = Reproduction(out / "index.html")
    graphs = _open(scale.datasets, scale.root, made)
    if not graphs:
        raise SettingError(f"none of the data sets can be opened: {'; '.join(made.notes)}")
    scale = replace(scale, datasets=tuple(graphs))
    if run_grid is not None:
        _run(scale, store, run_grid, made)
    rows = stored_rows(store, tuple(COLUMNS)) if store.is_file() else []
    if run_grid is None:
        stored = {row["dataset"] for row in rows} & DATASETS.keys() - graphs.keys()
        graphs |= _open(sorted(stored, key=dataset_order), scale.root, made)
    to_csv(rows, out / "runs.csv")
    statistics_of = {graph.name: statistics(graph) for graph in graphs.values()}
    rows = [row for row in rows if row["error"] is None and row["dataset"] in statistics_of]
    made.runs = len(rows)
    wanted = RunFilter(variant_name(scale.changes))
    request = Request(store, wanted, scale.datasets[0], max(scale.per_class), 0, scale.changes, scale.root, scale.toy)
    made.claims = decide_claims(rows, request, _draw(out / "figures", request, made))
    made.tables = {**_tables(runs_by_cell(rows, wanted), made), "datasets": datasets(statistics_of)}
    _write(out, replace(scale, datasets=tuple(statistics_of)), made)
    return made


def _open(sources: Sequence[str], root: str | None, made: Reproduction) -> dict[str, Graph]:
    """The data sets that can be opened; the others are listed on the page."""
    found: dict[str, Graph] = {}
    for source in sources:
        try:
            found[source] = open_graph(source, root)
        except DrgstError as error:
            made.notes.append(f"{source} was left out: {error}")
    return found


def _run(scale: Scale, path: Path, run_grid: RunGrid, made: Reproduction) -> None:
    if path.suffix in EXPORTS:
        raise SettingError(f"{path} is an export and takes no runs: add --no-run, or name a store with --store")
    with Store(path, create=True) as store:
        for title, grids in scale.grids().items():
            _log.info("runs for %s", title)
            for grid in grids:
                report = run_grid(grid, store)
                made.failed += report.failed
                made.notes += [
                    "A run failed: {dataset} {per_class} {recipe} draw {draw}: {error}".format(**row)
                    for row in report.failures
                ]


def _draw(out: Path, request: Request, made: Reproduction) -> Toy | None:
    """Draw every figure as PNG (for the page) and PDF; the toy, which a claim is about."""
    toy, every = None, replace(request, dataset=None)
    for spec in registry.FIGURES.values():
        _log.info("figure %s", spec.name)
        try:
            data = registry.prepare(spec.name, every if spec.from_store and spec.module != "sweep" else request)
        except DrgstError as error:
            made.notes.append(f"The figure {spec.name} was not drawn: {error}")
            continue
        toy = data if isinstance(data, Toy) else toy
        drawn = registry.draw(spec.name, data)
        png, pdf = (out / f"{spec.name}.{how}" for how in ("png", "pdf"))
        save(drawn, png, "png")
        save(drawn, pdf, "pdf")
        made.pictures.append(Picture(spec.name, spec.summary, png.read_bytes()))
    return toy


def _tables(cells: Cells, made: Reproduction) -> dict[str, Table]:
    """The tables of runs that can be made; the others are listed on the page."""
    found = {}
    for name in TABLES if cells else ():
        try:
            found[name] = make_table(name, cells)
        except DrgstError as error:
            made.notes.append(f"The table {name} was not made: {error}")
    return found


def _write(out: Path, scale: Scale, made: Reproduction) -> None:
    for name, table in made.tables.items():
        for how, ending in (("md", "md"), ("csv", "csv"), ("latex", "tex")):
            write_text(out / "tables" / f"{name}.{ending}", render_table(table, how))
    write_claims(made.claims, out / "claims.json")
    write_text(made.page, render(made, scale))
