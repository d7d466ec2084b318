"""The figures by name, and what each is made from: runs of a store, or a run made for the figure."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drgst.datasets.registry import DATASETS
from drgst.errors import SettingError, StoreError, unknown
from drgst.lab.store.cells import CellName, RunFilter, Runs, runs_by_cell, stored_rows
from drgst.lab.store.schema import Row
from drgst.report.style import check_matplotlib, freeze_layout, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from drgst.runs.result import Result

DATASET = "cora"  # of figures that show one data set


@dataclass(frozen=True)
class ToySizes:
    """Sizes of the toy: 500 labelled Gaussian nodes and 4,000 on circles as in the paper, which gives no pool size."""

    gaussian: int = 500
    circles: int = 4000
    pool_gaussian: int = 2000
    pool_circles: int = 4000
    rounds: int = 4
    top: int = 250  # pseudo-labels per class and round


@dataclass(frozen=True)
class Request:
    """The data and options of a figure; each figure reads those that concern it."""

    store: Path = Path("runs.db")
    wanted: RunFilter = field(default_factory=RunFilter)
    dataset: str | None = None  # None: Cora, or every data set of the store
    per_class: int | None = None  # labels per class of a run made for the figure; None: the figure's default
    seed: int = 0  # of a run made for the figure
    changes: Mapping[str, Any] = field(default_factory=dict)  # of its settings
    toy: ToySizes = field(default_factory=ToySizes)
    results: dict[Any, Result] = field(default_factory=dict)  # runs made for figures, which several figures show

    @cached_property
    def rows(self) -> list[Row]:
        """The successful runs of the store; empty where there is no store."""
        rows = stored_rows(self.store) if self.store.is_file() else []
        return [row for row in rows if row["error"] is None]

    @cached_property
    def cells(self) -> dict[CellName, Runs]:
        """The cells of the requested runs, of one data set if it is named."""
        found = runs_by_cell(self.rows, self.wanted)
        return {cell: runs for cell, runs in found.items() if self.dataset is None or cell[0] == self.dataset_name}

    @property
    def dataset_name(self) -> str:
        """The data set as named in the store: a graph file has the name of the file."""
        source = self.dataset or DATASET
        return source.lower() if source.lower() in DATASETS else Path(source).stem

    def run(self, recipe: str, per_class: int, **changes: Any) -> Result:
        """The result of ``recipe`` on the data set, run when it is first needed; ``self.changes`` override ``changes``.

        One thread: on small graphs more threads are slower.
        """
        from drgst.datasets.load import open_graph
        from drgst.recipes import find_recipe  # imports torch
        from drgst.runs.config import RunConfig
        from drgst.runs.run import Run

        data, k = self.dataset or DATASET, self.per_class or per_class
        settings = find_recipe(recipe).readable({**changes, **self.changes})
        key = (data, recipe, k, self.seed, *sorted(settings.items()))
        if key not in self.results:
            config = RunConfig(data, recipe, k, seed=self.seed, threads=1, settings=settings)
            opened = {result.config.data: result.graph for result in self.results.values()}
            run = Run.from_config(config, lambda name: opened[name] if name in opened else open_graph(name))
            self.results[key] = run.execute()
        return self.results[key]


@dataclass(frozen=True)
class FigureSpec:
    """A figure: its module has ``prepare(request, *arguments)`` and ``draw(data)``."""

    name: str
    summary: str
    module: str
    from_store: bool = False  # or it makes a run of its own
    arguments: tuple[str, ...] = ()  # distinguishes the figures of one module


_ALL = (
    FigureSpec("confidence-gain", "confidence against information gain, correct and incorrect", "confidence_gain"),
    FigureSpec("embedding-gain", "embeddings coloured by information gain", "embedding_gain"),
    FigureSpec("toy", "population and self-trained distributions and their ratio", "toy"),
    FigureSpec("labels", "accuracy against labels per class, with the paper's", "labels", True),
    FigureSpec("ablation-do", "ablations of DR-GST with dropout", "ablation", True, ("drgst-do",)),
    FigureSpec("ablation-de", "ablations of DR-GST with dropedge", "ablation", True, ("drgst-de",)),
    FigureSpec("threshold", "accuracy against the threshold", "sweep", True, ("threshold",)),
    FigureSpec("beta", "accuracy against the balance coefficient", "sweep", True, ("beta",)),
    FigureSpec("stages", "embeddings at stages 1 to 3, pool and test nodes", "stages"),
)
FIGURES = {spec.name: spec for spec in _ALL}


def find_figure(name: str) -> FigureSpec:
    """The figure of that name; an unknown name is refused with the nearest one."""
    if name not in FIGURES:
        raise SettingError(unknown("figure", name, FIGURES))
    return FIGURES[name]


def prepare(name: str, request: Request) -> Any:
    """The data of a figure; refused where the store has no runs for it."""
    spec = find_figure(name)
    data = _module(spec).prepare(request, *spec.arguments)
    if spec.from_store and not data:
        raise StoreError(
            f"{request.store} holds no runs for the figure {name}; drgst lab reproduce --store FILE makes them"
        )
    return data


def make_figure(name: str, request: Request) -> Figure:
    """Prepare and draw."""
    check_matplotlib()
    return draw(name, prepare(name, request))


def draw(name: str, data: Any) -> Figure:
    """Draw the data that :func:`prepare` returned."""
    with styled():
        figure = _module(find_figure(name)).draw(data)
        freeze_layout(figure)
    return figure


def _module(spec: FigureSpec) -> Any:
    return importlib.import_module(f"drgst.lab.figures.{spec.module}")
