"""A run made for a figure, and the gain of its networks by either kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from drgst.graph.core import Graph
from drgst.graph.io.open import open_graph
from drgst.nn.random import generator
from drgst.recipes.resolve import resolve
from drgst.runs.protocol import draw
from drgst.runs.run import threads
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History, Stage
from drgst.selftrain.learners.network import Network, Problem
from drgst.selftrain.recipe import Recipe
from drgst.uncertainty.gain import GainSettings, gain_of

KINDS = {"dropout": "drgst-do", "dropedge": "drgst-de"}  # kind of gain -> the recipe whose drop rate it takes
GAIN = 7  # sets the generator of the gain apart


@dataclass(frozen=True, eq=False)
class Look:
    """A finished run with the truth beside it, for pictures only."""

    graph: Graph  # with all labels
    problem: Problem
    recipe: Recipe
    history: History

    @property
    def unseen(self) -> np.ndarray:
        """Nodes that did not train and whose truth is known."""
        known = np.flatnonzero(self.graph.labels >= 0)
        return np.setdiff1d(known, self.problem.split.train)

    def gain(self, stage: Stage, kind: str) -> np.ndarray:
        """B of every node by sampling, (N,), at the drop rate that is published for the case."""
        graph, settings = self.graph, self.problem.settings
        asked = {"samples": settings.samples}
        pseudo, _ = resolve(KINDS[kind], graph, self.problem.split, asked)
        return network_gain(self.problem, stage, pseudo.gain_settings())


def network_gain(problem: Problem, stage: Stage, settings: GainSettings) -> np.ndarray:
    """B of the network of ``stage``, (N,)."""
    graph = problem.graph
    network = Network().network(graph.num_features, graph.num_classes, problem.settings)
    network.load_state_dict(dict(stage.state))
    network.eval()
    return gain_of(network.to(problem.inputs.device), problem.inputs, settings, generator(problem.seed, GAIN))


def look(source: str, per_class: int, seed: int, recipe: str, changes: Mapping[str, Any], root: str | None) -> Look:
    """Draw ``seed`` of the paper's protocol, run with one thread: on small graphs more cost more."""
    return _look(source, per_class, seed, recipe, tuple(sorted(changes.items())), root)


@lru_cache(maxsize=2)  # several figures look at the same run
def _look(
    source: str, per_class: int, seed: int, recipe: str, changes: tuple[tuple[str, Any], ...], root: str | None
) -> Look:
    graph = _opened(source, root)
    split = draw(graph, per_class, seed, "unlabelled", "public")
    settings, parts = resolve(recipe, graph, split, dict(changes))
    problem = Problem.of(graph, split, settings, seed)
    with threads(1):
        return Look(graph, problem, parts, self_train(problem, parts))


@lru_cache(maxsize=1)
def _opened(source: str, root: str | None) -> Graph:
    return open_graph(source, root)
