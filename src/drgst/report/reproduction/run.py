"""Run what is not in the store, make tables and figures, judge the claims, write the page."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from drgst.bench.bench import Watcher, bench
from drgst.bench.executors import Engine
from drgst.bench.export import to_csv
from drgst.bench.persistent_pool import PersistentPool
from drgst.bench.results import Wanted
from drgst.bench.store import Store
from drgst.errors import DrgstError, SettingError
from drgst.files import write_text
from drgst.graph.core import Graph
from drgst.graph.io.open import open_graph
from drgst.report.claims.base import Claim
from drgst.report.figures import registry
from drgst.report.figures.request import Request
from drgst.report.figures.style import check_matplotlib, save
from drgst.report.figures.toy_run import Toy
from drgst.report.reproduction.evidence import claims, gather, read_rows
from drgst.report.reproduction.page import Picture, render
from drgst.report.reproduction.scale import Scale
from drgst.report.reproduction.tables import make_tables
from drgst.report.table import Table
from drgst.report.table import render as render_table

_log = logging.getLogger("drgst")
Watching = Callable[[Engine], AbstractContextManager[Watcher]]


@dataclass
class Reproduction:
    """What came out, and where it is."""

    page: Path
    claims: list[Claim] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)
    runs: int = 0
    failed: int = 0
    notes: list[str] = field(default_factory=list)


def reproduce(
    scale: Scale, out: Path, store: Path, engine: Engine, watching: Watching, run: bool = True
) -> Reproduction:
    """All of it, in the folder ``out``. What is in the store is not run again, so a killed one goes on.

    ``engine`` makes the runs and is closed at the end, ``watching`` is told of them; without ``run`` only what the
    store holds is shown. Each step is told to the log.
    """
    check_matplotlib()
    made = Reproduction(out / "index.html")
    graphs = _graphs(scale, made)
    scale = replace(scale, datasets=tuple(graphs))
    names = tuple(graph.name for graph in graphs.values())
    with Store(store, create=True) as opened:
        if run:
            _run(scale, opened, engine, watching, made)
        rows = read_rows(opened, names)
        made.runs = len(rows)
        to_csv(opened.all_rows(), out / "runs.csv")
    request = Request(store, Wanted(scale.variant), None, None, 0, scale.changes, scale.root, scale.toy)
    alone = replace(request, dataset=scale.datasets[0], per_class=max(scale.per_class))
    toy = _figures(out, request, alone, names[0], made)
    evidence = gather(rows, scale, alone, toy)
    made.tables = make_tables(evidence.cells, {graph.name: graph for graph in graphs.values()})
    made.claims = claims(evidence, scale, names[0])
    _write(out, scale, made)
    return made


def _graphs(scale: Scale, made: Reproduction) -> dict[str, Graph]:
    """The data sets that can be opened here; the others are named on the page."""
    found: dict[str, Graph] = {}
    for source in scale.datasets:
        try:
            found[source] = open_graph(source, scale.root)
        except DrgstError as error:
            made.notes.append(f"{source} was left out: {error}")
    if not found:
        raise SettingError(f"none of the data sets can be opened: {'; '.join(made.notes)}")
    return found


def _run(scale: Scale, store: Store, engine: Engine, watching: Watching, made: Reproduction) -> None:
    with PersistentPool(engine) as worker:
        for title, grids in scale.grids().items():
            _log.info("runs for %s", title)
            for grid in grids:
                with watching(worker) as watcher:
                    report = bench(grid, store, worker, watcher)
                made.failed += report.failed
                made.notes += [_failure(row) for row in report.failures]


def _failure(row: dict[str, object]) -> str:
    return f"A run failed: {row['dataset']} {row['per_class']} {row['recipe']} draw {row['draw']}: {row['error']}"


def _figures(out: Path, request: Request, alone: Request, dataset: str, made: Reproduction) -> Toy | None:
    """Draw all of them as PNG (for the page) and PDF; the toy, since a claim is about it."""
    toy = None
    for spec in registry.FIGURES.values():
        _log.info("figure %s", spec.name)
        asked = replace(request, dataset=dataset) if spec.module == "sweep" else request if spec.of_store else alone
        try:
            data = registry.prepare(spec.name, asked)
        except DrgstError as error:
            made.notes.append(f"The figure {spec.name} was not drawn: {error}")
            continue
        toy = data if isinstance(data, Toy) else toy
        drawn = registry.draw(spec.name, data)
        files = [out / "figures" / f"{spec.name}.{how}" for how in ("png", "pdf")]
        for path in files:
            save(drawn, path, path.suffix[1:])
        made.pictures.append(Picture(spec.name, spec.summary, files[0].read_bytes()))
    return toy


def _write(out: Path, scale: Scale, made: Reproduction) -> None:
    for name, table in made.tables.items():
        for how, ending in (("md", "md"), ("csv", "csv"), ("latex", "tex")):
            write_text(out / "tables" / f"{name}.{ending}", render_table(table, how))
    words: Sequence[dict[str, object]] = [asdict(claim) for claim in made.claims]
    write_text(out / "claims.json", json.dumps(words, indent=2, ensure_ascii=False) + "\n")
    write_text(made.page, render(scale, made.claims, made.tables, made.pictures, made.runs, made.notes))
