"""The table of figures: name, what it shows, where it is made, and whether it needs runs of a store."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drgst.bench.grid import Grid
from drgst.errors import SettingError, StoreError, unknown
from drgst.report.experiments import Plan, command
from drgst.report.figures.request import Request
from drgst.report.figures.style import check_matplotlib, settle, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FigureSpec:
    """A figure. One that is of a store has ``grids(plan, name)`` in its module, one that is not makes its own run."""

    name: str
    summary: str
    module: str
    of_store: bool = False
    named: bool = False  # whether ``prepare`` is told the name, since several figures share the module


_ALL = (
    FigureSpec("confidence-gain", "confidence against information gain, right and wrong", "confidence_gain"),
    FigureSpec("embedding-gain", "embeddings coloured by information gain", "embedding_gain"),
    FigureSpec("toy", "population and self-trained distributions and their ratio", "toy"),
    FigureSpec("labels", "accuracy against labels a class, with the paper's", "labels", True),
    FigureSpec("ablation-do", "DR-GST by dropout with each part left out", "ablation", True, True),
    FigureSpec("ablation-de", "DR-GST by dropedge with each part left out", "ablation", True, True),
    FigureSpec("threshold", "impact of the threshold", "sweep", True, True),
    FigureSpec("beta", "impact of the balance coefficient", "sweep", True, True),
    FigureSpec("stages", "embeddings at stages 1 to 3, pool and test nodes", "stages"),
)
FIGURES = {spec.name: spec for spec in _ALL}


def find_figure(name: str) -> FigureSpec:
    """The figure of that name; a typo gets the nearest one."""
    if name not in FIGURES:
        raise SettingError(unknown("figure", name, FIGURES))
    return FIGURES[name]


def grids_of(name: str, plan: Plan) -> list[Grid]:
    """What must be in a store for a figure; nothing where it makes its own run."""
    spec = find_figure(name)
    return _module(spec).grids(plan, name) if spec.of_store else []


def prepare(name: str, request: Request) -> Any:
    """The data of a figure; refused, with the words that make them, where the store has no such runs."""
    spec = find_figure(name)
    module = _module(spec)
    data = module.prepare(request, name) if spec.named else module.prepare(request)
    if spec.of_store and not (data.lines if spec.module == "sweep" else data):
        raise StoreError(missing(name, request))
    return data


def make_figure(name: str, request: Request) -> Figure:
    """Prepare and draw."""
    check_matplotlib()
    return draw(name, prepare(name, request))


def draw(name: str, data: Any) -> Figure:
    """Draw what :func:`prepare` gave."""
    with styled():
        figure = _module(find_figure(name)).draw(data)
        settle(figure)
    return figure


def missing(name: str, request: Request) -> str:
    """One sentence: there are no such runs, and which words make them."""
    plan = Plan((request.dataset or "cora",), draws=10, root=request.root)
    first, *more = grids_of(name, plan)
    again = f" (and so on for {', '.join(f'{g.changes[name]:.3g}' for g in more)})" if more else ""
    store = "runs.db" if request.store.suffix in (".csv", ".parquet") else request.store  # an export takes no runs
    return (
        f"{request.store} holds no runs for the figure {name}; {command(first, store)}{again} makes them, "
        f"or drgst figure {name} --run --store {store}"
    )


def _module(spec: FigureSpec) -> Any:
    return importlib.import_module(f"drgst.report.figures.{spec.module}")
