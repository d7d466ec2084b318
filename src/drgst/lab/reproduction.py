"""Run what the store lacks, make tables and figures, decide the claims, and write the page: one HTML file."""

from __future__ import annotations

import base64
import logging
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from drgst import __version__
from drgst.datasets.load import open_graph
from drgst.datasets.registry import DATASETS as KNOWN
from drgst.errors import DataFileError, DrgstError, SettingError
from drgst.files import write_text
from drgst.graph.core import Graph
from drgst.graph.stats import statistics
from drgst.lab.claims import TOYS, decide_claims, write_claims
from drgst.lab.effect import Claim
from drgst.lab.figures import registry
from drgst.lab.figures.registry import Request, ToySizes
from drgst.lab.figures.toy import Toy
from drgst.lab.grid.grid import Grid
from drgst.lab.grid.run_grid import BenchResult
from drgst.lab.paper import CURVES, DATASETS, DRGST, LABELS, METHODS, SWEEPS, ablations, dataset_order, variant_name
from drgst.lab.store import Store
from drgst.lab.store.cells import Cells, RunFilter, runs_by_cell, stored_rows
from drgst.lab.store.export import to_csv
from drgst.lab.store.schema import COLUMNS
from drgst.lab.tables.layout import ResultTable, render
from drgst.lab.tables.runs import TABLES, datasets, make_table
from drgst.report.html import policy, stylesheet
from drgst.report.style import check_matplotlib, save

MARKS = {"held": "good", "refuted": "bad", "too small to tell": "none", "not run": "none"}


@dataclass
class Reproduction:
    """The claims, tables and figures of a reproduction, and the path of its page."""

    page: Path
    claims: list[Claim] = field(default_factory=list)
    tables: dict[str, ResultTable] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)  # figure -> PNG
    runs: int = 0
    failed: int = 0
    notes: list[str] = field(default_factory=list)


def page(made: Reproduction, scale: str, datasets: Sequence[str]) -> str:
    """The page. Its content security policy allows its own style and embedded pictures, and nothing else."""
    style = stylesheet((Path(__file__).parent / "data/reproduction.css").read_text(encoding="utf-8"))
    held = sum(claim.verdict == "held" for claim in made.claims)
    parts = [
        f"<h1>Confidence May Cheat: {held} of {len(made.claims)} claims held</h1>",
        f"<p>Made by drgst {__version__} (Python {platform.python_version()}) with drgst lab reproduce --{scale} "
        f"from {made.runs:,} runs on {escape(', '.join(datasets))}. All recipes share the same draws, and differences "
        "are taken draw by draw. The runs are in runs.csv, tables and figures in the folders of those names.</p>",
        _overview(made.claims),
        "<h2>Claims</h2>",
        *(_claim(number, claim) for number, claim in enumerate(made.claims, 1)),
        "<h2>Figures</h2>",
        '<div class="figures">',
        *(_picture(*picture) for picture in made.pictures.items()),
        "</div><h2>Tables</h2>",
        *(f"<details><summary>{escape(t.title)}</summary>{render(t, 'html')}</details>" for t in made.tables.values()),
        f"<h2>What is missing</h2>{_list(made.notes)}" if made.notes else "",
    ]
    text = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(style, "")}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Claims of the paper</title><style>{style}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )
    return text.encode("utf-8", "replace").decode("utf-8")


def _overview(claims: Sequence[Claim]) -> str:
    rows = "".join(
        f'<tr><td><a href="#claim-{number}">{escape(claim.title)}</a></td><td>{_mark(claim)}</td></tr>'
        for number, claim in enumerate(claims, 1)
    )
    return (
        f'<table class="overview"><thead><tr><th>claim</th><th>verdict</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _mark(claim: Claim) -> str:
    return f'<span class="mark {MARKS[claim.verdict]}">{escape(claim.verdict)}</span>'


def _claim(number: int, claim: Claim) -> str:
    effects = render(replace(claim.table(), title="Measured"), "html") if claim.effects else "<p>No runs.</p>"
    return (
        f'<section id="claim-{number}"><h3>{escape(claim.title)} {_mark(claim)}</h3>'
        f"<p><b>Paper:</b> {escape(claim.paper)}</p>{effects}{_list(claim.remarks)}"
        f'<p class="soft"><b>Held when:</b> {escape(claim.rule)}</p></section>'
    )


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _picture(name: str, png: bytes) -> str:
    data, summary = base64.b64encode(png).decode("ascii"), escape(registry.FIGURES[name].summary)
    return (
        f'<figure><img alt="{summary}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(name)}: {summary}</figcaption></figure>"
    )


_log = logging.getLogger("drgst")
RunGrid = Callable[[Grid, Store], BenchResult]


@dataclass(frozen=True)
class Scale:
    """What is run; the first data set is the one of figures and claims about a single data set."""

    name: str
    datasets: Sequence[str]
    per_class: Sequence[int]
    recipes: Sequence[str]
    draws: int
    ablation_labels: Sequence[int]
    sweep_labels: Sequence[int]
    sweep_recipes: Sequence[str]
    sweeps: Mapping[str, Sequence[float]]
    changes: Mapping[str, Any] = field(default_factory=dict)  # of settings, for every run
    toy: ToySizes = field(default_factory=ToySizes)
    toys: int = 5  # seeds of the toy

    def grids(self) -> dict[str, list[Grid]]:
        """Title -> grids. A run that is in several grids is made once."""
        full = [recipe for full in DRGST for recipe in ablations(full)]
        swept = partial(Grid, self.datasets[:1], self.sweep_labels, self.sweep_recipes, self.draws)
        return {
            "accuracy against labels per class": [self._grid(self.per_class, self.recipes)],
            "the ablations": [self._grid(self.ablation_labels, full)],
            **{
                f"the {name}": [swept({**self.changes, name: value}) for value in values]
                for name, values in self.sweeps.items()
            },
        }

    def _grid(self, per_class: Sequence[int], recipes: Sequence[str]) -> Grid:
        return Grid(self.datasets, per_class, recipes, self.draws, self.changes)


QUICK = Scale(
    name="quick",
    datasets=("cora",),
    per_class=(3, 20),
    recipes=("gcn", *DRGST),
    draws=3,
    ablation_labels=(3,),
    sweep_labels=(3,),
    sweep_recipes=("drgst-de",),
    sweeps={"threshold": (0.4, 0.55, 0.7), "beta": (1 / 3, 2 / 3, 1.0)},
)
FULL = Scale(
    name="full",
    datasets=DATASETS,
    per_class=LABELS,
    recipes=tuple(dict.fromkeys([*METHODS, *CURVES, "self-training", "cagcn-st", "margin-st"])),
    draws=10,
    ablation_labels=LABELS,
    sweep_labels=LABELS,
    sweep_recipes=DRGST,
    sweeps=SWEEPS,
    toys=TOYS,
)


def reproduce(scale: Scale, out: Path, store: Path, run_grid: RunGrid | None = None) -> Reproduction:
    """Make the runs of ``scale`` that the store lacks, and write tables, figures, claims and the page to ``out``.

    Without ``run_grid`` no grid is run: the page shows what the store, or its export, holds.
    """
    check_matplotlib()
    made = Reproduction(out / "index.html")
    graphs = _open(scale.datasets, made)
    if not graphs:
        raise SettingError(f"none of the data sets can be opened: {'; '.join(made.notes)}")
    scale = replace(scale, datasets=tuple(graphs))
    if run_grid is not None:
        _run(scale, store, run_grid, made)
    rows = stored_rows(store, tuple(COLUMNS)) if store.is_file() else []
    if run_grid is None:
        stored = {row["dataset"] for row in rows} & KNOWN.keys() - graphs.keys()
        graphs |= _open(sorted(stored, key=dataset_order), made)
    to_csv(rows, out / "runs.csv")
    statistics_of = {graph.name: statistics(graph) for graph in graphs.values()}
    rows = [row for row in rows if row["error"] is None and row["dataset"] in statistics_of]
    made.runs = len(rows)
    wanted = RunFilter(variant_name(scale.changes))
    request = Request(store, wanted, scale.datasets[0], max(scale.per_class), 0, scale.changes, scale.toy)
    first = _draw(out / "figures", request, made)
    made.claims = decide_claims(rows, request, toys=scale.toys, first=first)
    made.tables = {**_tables(runs_by_cell(rows, wanted), made), "datasets": datasets(statistics_of)}
    _write(out, replace(scale, datasets=tuple(statistics_of)), made)
    return made


def _open(sources: Sequence[str], made: Reproduction) -> dict[str, Graph]:
    """The data sets that can be opened; the others are listed on the page."""
    found: dict[str, Graph] = {}
    for source in sources:
        try:
            graph = open_graph(source)
            if source in KNOWN and not graph.num_features:
                raise DataFileError("without its features it is another graph than the paper's")
            found[source] = graph
        except DrgstError as error:
            made.notes.append(f"{source} was left out: {error}")
    return found


def _run(scale: Scale, path: Path, run_grid: RunGrid, made: Reproduction) -> None:
    if path.suffix == ".csv":
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
        save(drawn, png)
        save(drawn, pdf)
        made.pictures[spec.name] = png.read_bytes()
    return toy


def _tables(cells: Cells, made: Reproduction) -> dict[str, ResultTable]:
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
            write_text(out / "tables" / f"{name}.{ending}", render(table, how))
    write_claims(made.claims, out / "claims.json")
    write_text(made.page, page(made, scale.name, scale.datasets))
