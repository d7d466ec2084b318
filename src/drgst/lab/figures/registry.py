"""The figures by name: what each shows, its module, and whether it reads a store."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drgst.errors import SettingError, StoreError, unknown
from drgst.lab.experiments import Experiment, command
from drgst.lab.figures.request import Request
from drgst.lab.grid.grid import Grid
from drgst.lab.statistics.results import EXPORTS
from drgst.report.style import check_matplotlib, freeze_layout, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FigureSpec:
    """A figure: its module has ``prepare(request, *arguments)`` and ``draw(data)``.

    The module of a figure that reads a store also has ``grids(experiment, *arguments)``; the others make their own run.
    """

    name: str
    summary: str
    module: str
    from_store: bool = False
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


def grids_of(name: str, experiment: Experiment) -> list[Grid]:
    """The runs that a figure reads from a store; none for a figure that makes its own run."""
    spec = find_figure(name)
    return _module(spec).grids(experiment, *spec.arguments) if spec.from_store else []


def prepare(name: str, request: Request) -> Any:
    """The data of a figure; refused, with the command that makes the runs, where the store has none."""
    spec = find_figure(name)
    data = _module(spec).prepare(request, *spec.arguments)
    if spec.from_store and not data:
        raise StoreError(missing(name, request))
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


def missing(name: str, request: Request) -> str:
    """One sentence: the store has no such runs, and the command that makes them."""
    experiment = Experiment((request.dataset or "cora",), draws=10, root=request.root)
    first, *more = grids_of(name, experiment)
    others = f" (and so on for {', '.join(f'{g.changes[name]:.3g}' for g in more)})" if more else ""
    store = "runs.db" if request.store.suffix in EXPORTS else request.store  # an export takes no runs
    return (
        f"{request.store} holds no runs for the figure {name}; {command(first, store)}{others} makes them, "
        f"or drgst lab figure {name} --run --store {store}"
    )


def _module(spec: FigureSpec) -> Any:
    return importlib.import_module(f"drgst.lab.figures.{spec.module}")
