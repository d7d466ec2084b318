"""The toy: population and self-trained distributions and their ratio (the paper's Figure 2).

Rounds of self-training by confidence on a Gaussian surrounded by circles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.datasets.synthetic import gaussian_circles
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.lab.figures.confidence_gain import network_gain
from drgst.lab.figures.registry import Request, ToySizes
from drgst.recipes.registry import own_recipe
from drgst.report import style
from drgst.runs.config import RunConfig
from drgst.runs.model import OWN
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.select import Accumulate, TopPerClass
from drgst.selftrain.slots.stop import MaxStages, NoNewLabels

SIGMA, BANDWIDTH = 0.3, 0.1  # σ of the paper's Gaussian; width of the kernels
SETTINGS = {"normalise": "none", "fixed_epochs": 200, "gain": "dropout", "drop_rate": 0.5, "weight_decay": 0.0}
HALF, STEPS = 1.25, 101  # half the width of the map of γ, and its places along each axis
NEGLIGIBLE = 0.01  # of the highest density: γ is not shown where P_st is lower


@dataclass(frozen=True, eq=False)
class Toy:
    """Positions of labelled and pseudo-labelled nodes after the rounds; class 0 is the Gaussian."""

    labelled: np.ndarray  # (n, 2) of the Gaussian class: P_pop
    pseudo_labelled: np.ndarray  # (m, 2) as the Gaussian class
    others: np.ndarray  # (k, 2) labelled nodes of the other classes
    other_pseudo_labelled: np.ndarray  # as one of the other classes
    gain: np.ndarray  # (m,) B of the nodes pseudo-labelled as the Gaussian class, by the first teacher
    accuracy: float  # share of them that belong to the class

    def population(self, places: np.ndarray) -> np.ndarray:
        """P_pop, smoothed as P_st is: N(0, (σ² + h²) I)."""
        return gaussian(places, float(np.hypot(SIGMA, BANDWIDTH)))

    def self_trained(self, places: np.ndarray) -> np.ndarray:
        """P_st = (n P_pop + m P_pseudo) / (n + m), the density of labelled and pseudo-labelled nodes of the class."""
        n, m = len(self.labelled), len(self.pseudo_labelled)
        density = kernel_density(self.pseudo_labelled, places, BANDWIDTH)
        return (n * self.population(places) + m * density) / (n + m)

    def gamma(self, places: np.ndarray) -> np.ndarray:
        """γ = P_pop / P_st, (M,)."""
        return self.population(places) / self.self_trained(places)


def gaussian(places: np.ndarray, sigma: float) -> np.ndarray:
    """N(x; 0, σ² I) at ``places`` (M, 2), (M,)."""
    return np.exp(-(places**2).sum(axis=1) / (2 * sigma**2)) / (2 * np.pi * sigma**2)


def kernel_density(points: np.ndarray, places: np.ndarray, bandwidth: float) -> np.ndarray:
    """p(x) = 1/n Σ_i N(x; x_i, h² I) of ``points`` (n, 2) at ``places`` (M, 2), (M,); 0 without points."""
    if not points.size:
        return np.zeros(places.shape[0])
    squared = ((places[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-squared / (2 * bandwidth**2)).mean(axis=1) / (2 * np.pi * bandwidth**2)


def run_toy(seed: int = 0, sizes: ToySizes | None = None, changes: Mapping[str, Any] | None = None) -> Toy:
    """Train, pseudo-label the most confident nodes of each class, keep them, and repeat."""
    sizes = sizes or ToySizes()
    graph = gaussian_circles(
        seed=seed, gaussian=sizes.gaussian + sizes.pool_gaussian, circles=sizes.circles + sizes.pool_circles
    )
    split = _split(graph, sizes, np.random.default_rng(seed))
    recipe = Recipe(select=Accumulate(TopPerClass(sizes.top)), stop=(NoNewLabels(), MaxStages(sizes.rounds)))
    settings = own_recipe(recipe).readable({**SETTINGS, **(changes or {})})
    config = RunConfig(recipe=OWN, seed=seed, threads=1, settings=settings)
    return _toy(Run.of(graph, config, split, recipe).execute())


def _toy(result: Result) -> Toy:
    graph, history, problem = result.graph, result.history, result.run.problem
    places, train, pseudo = np.asarray(graph.features), result.split.train, history.accepted[-1].pseudo_labels
    ours = pseudo.nodes[pseudo.labels == 0]
    is_gaussian = graph.labels[train] == 0
    return Toy(
        places[train[is_gaussian]],
        places[ours],
        places[train[~is_gaussian]],
        places[pseudo.nodes[pseudo.labels != 0]],
        network_gain(problem, history[0], problem.settings.gain_settings())[ours],
        float((graph.labels[ours] == 0).mean()) if ours.size else float("nan"),
    )


def _split(graph: Graph, sizes: ToySizes, rng: np.random.Generator) -> Split:
    inside, outside = (np.flatnonzero(part) for part in (graph.labels == 0, graph.labels != 0))
    train = np.concatenate(
        [rng.choice(inside, sizes.gaussian, replace=False), rng.choice(outside, sizes.circles, replace=False)]
    )
    empty = np.empty(0, dtype=np.int64)
    return Split.of(train, empty, empty, graph.num_nodes, name="toy")


def prepare(request: Request) -> Toy:
    """Run the toy."""
    return run_toy(request.seed, request.toy, request.changes)


def grid(half: float, steps: int) -> np.ndarray:
    """``steps``² places over [-half, half]², (steps², 2), rows from below."""
    line = np.linspace(-half, half, steps)
    return np.stack([axis.ravel() for axis in np.meshgrid(line, line)], axis=1)


def ratio(toy: Toy, half: float = HALF, steps: int = STEPS) -> np.ndarray:
    """γ on a grid, (steps, steps), NaN where P_st is negligible."""
    places = grid(half, steps)
    density = toy.self_trained(places)
    return np.where(density > NEGLIGIBLE * density.max(), toy.gamma(places), np.nan).reshape(steps, steps)


def draw(toy: Toy) -> style.Figure:
    """P_pop, P_st and γ side by side."""
    figure, axes = style.new_figure(1.5, 1, 3)
    before, after, weights = axes[0]
    _nodes(before, [toy.others], [toy.labelled], r"before: $P_{pop}$")
    _nodes(after, [toy.others, toy.other_pseudo_labelled], [toy.labelled, toy.pseudo_labelled], r"after: $P_{st}$")
    extent = (-HALF, HALF, -HALF, HALF)
    shown = weights.imshow(ratio(toy), origin="lower", extent=extent, cmap=f"{style.SHADES}_r", vmin=0)
    weights.set_title(r"$\gamma = P_{pop}\,/\,P_{st}$")
    style.frame_map(weights)
    bar = figure.colorbar(shown, ax=axes[0, :], orientation="vertical", shrink=0.62, pad=0.01)
    bar.outline.set_visible(False)
    counts = f"{len(toy.labelled):,} labelled and {len(toy.pseudo_labelled):,} pseudo-labelled nodes"
    style.caption(figure, f"blue: {counts} of the Gaussian class; grey: other classes; white: P_st near 0")
    return figure


def _nodes(panel: Any, others: list[np.ndarray], ours: list[np.ndarray], title: str) -> None:
    for places, size, colour in ((others, 0.6, style.GREY), (ours, 1.2, style.BLUE)):
        panel.scatter(*np.concatenate(places).T, s=size, c=colour, alpha=0.5, linewidths=0, rasterized=True)
    panel.set(xlim=(-HALF, HALF), ylim=(-HALF, HALF), title=title)
    style.frame_map(panel)
