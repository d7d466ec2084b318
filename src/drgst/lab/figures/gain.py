"""The information gain of a network by either kind, for figures."""

from __future__ import annotations

import numpy as np

from drgst.nn.random import generator
from drgst.recipes.registry import resolve
from drgst.runs.result import Result
from drgst.selftrain.history import Stage
from drgst.selftrain.learners.network import Network
from drgst.selftrain.problem import Problem
from drgst.uncertainty.gain import GainSettings, estimate_gain

KINDS = {"dropout": "drgst-do", "dropedge": "drgst-de"}  # kind of gain -> the recipe whose drop rate it takes
GAIN = 7  # a generator of its own for the gain


def sampled_gain(result: Result, stage: Stage, kind: str) -> np.ndarray:
    """B of every node by sampling, (N,), at the drop rate that is published for the data set and label count."""
    samples = {"samples": result.model.settings.samples}
    settings, _ = resolve(KINDS[kind], result.graph, result.split, samples)
    return network_gain(result.run.problem, stage, settings.gain_settings())


def network_gain(problem: Problem, stage: Stage, settings: GainSettings) -> np.ndarray:
    """B of the network of ``stage``, (N,)."""
    graph = problem.graph
    network = Network().network(graph.num_features, graph.num_classes, problem.settings)
    network.load_state_dict(dict(stage.state))
    network.eval()
    return estimate_gain(network.to(problem.inputs.device), problem.inputs, settings, generator(problem.seed, GAIN))


def labelled_others(result: Result) -> np.ndarray:
    """Nodes of known label that are not training nodes."""
    return np.setdiff1d(np.flatnonzero(result.graph.labels >= 0), result.split.train)
