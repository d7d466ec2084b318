"""The toy of the paper's Figure 2: rounds of self-training by confidence on a Gaussian amid circles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.graph.core import Graph
from drgst.graph.datasets.synthetic import gaussian_circles
from drgst.graph.split import Split
from drgst.report.figures.density import gaussian, kernel_density
from drgst.report.figures.gain import network_gain
from drgst.report.figures.request import Sizes
from drgst.runs.config import RunConfig
from drgst.runs.model import OWN
from drgst.runs.result import Result
from drgst.runs.run import Run
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.select.rank import TopPerClass
from drgst.selftrain.stop.parts import MaxStages, NoNewLabels

SIGMA, BANDWIDTH = 0.3, 0.1  # σ of the paper's Gaussian; width of the kernels
SETTINGS = {"normalise": "none", "fixed_epochs": 200, "gain": "dropout", "drop_rate": 0.5, "weight_decay": 0.0}


@dataclass(frozen=True, eq=False)
class Toy:
    """What the rounds did to the Gaussian class."""

    labelled: np.ndarray  # (n, 2) true labels of the class: P_pop
    picked: np.ndarray  # (m, 2) pseudo-labelled as the class
    others: np.ndarray  # (k, 2) labelled nodes of the other classes
    other_picked: np.ndarray  # pseudo-labelled as one of them
    gain: np.ndarray  # (m,) B of the picked, by the first teacher
    confidence: np.ndarray  # (m,) of the picked, by the first teacher
    right: float  # share of the picked that belong to the class

    def population(self, places: np.ndarray) -> np.ndarray:
        """P_pop, smoothed as P_st is: N(0, (σ² + h²) I)."""
        return gaussian(places, float(np.hypot(SIGMA, BANDWIDTH)))

    def self_trained(self, places: np.ndarray) -> np.ndarray:
        """P_st = (n P_pop + m P_picked) / (n + m), the density of true and pseudo-labelled nodes of the class."""
        n, m = len(self.labelled), len(self.picked)
        return (n * self.population(places) + m * kernel_density(self.picked, places, BANDWIDTH)) / (n + m)

    def gamma(self, places: np.ndarray) -> np.ndarray:
        """γ = P_pop / P_st, (M,)."""
        return self.population(places) / self.self_trained(places)


def play(seed: int = 0, sizes: Sizes | None = None, changes: Mapping[str, Any] | None = None) -> Toy:
    """Train, pick the most confident of each class, keep them, and so on."""
    sizes = sizes or Sizes()
    graph = gaussian_circles(
        seed=seed, gaussian=sizes.gaussian + sizes.pool_gaussian, circles=sizes.circles + sizes.pool_circles
    )
    split = _split(graph, sizes, np.random.default_rng(seed))
    config = RunConfig(recipe=OWN, seed=seed, threads=1, settings={**SETTINGS, **(changes or {})})
    recipe = Recipe(select=TopPerClass(sizes.picks), carry=True, stop=(NoNewLabels(), MaxStages(sizes.rounds)))
    return read(Run.of(graph, config, split, recipe).execute())


def read(result: Result) -> Toy:
    """The places of the nodes of a toy run; class 0 is the Gaussian."""
    graph, history, problem = result.graph, result.history, result.run.problem
    places, train, pseudo = np.asarray(graph.features), result.split.train, history.accepted[-1].pseudo
    ours = pseudo.nodes[pseudo.labels == 0]
    gain = network_gain(problem, history[0], problem.settings.gain_settings())
    mine = graph.labels[train] == 0
    return Toy(
        places[train[mine]],
        places[ours],
        places[train[~mine]],
        places[pseudo.nodes[pseudo.labels != 0]],
        gain[ours],
        history[0].probabilities[ours].max(axis=1),
        float((graph.labels[ours] == 0).mean()) if ours.size else float("nan"),
    )


def _split(graph: Graph, sizes: Sizes, rng: np.random.Generator) -> Split:
    inside, around = (np.flatnonzero(kind) for kind in (graph.labels == 0, graph.labels != 0))
    train = np.concatenate(
        [rng.choice(inside, sizes.gaussian, replace=False), rng.choice(around, sizes.circles, replace=False)]
    )
    empty = np.empty(0, dtype=np.int64)
    return Split.of(train, empty, empty, graph.num_nodes, name="toy")
