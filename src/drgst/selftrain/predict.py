"""Logits of a finished run on another graph, from the state of its result."""

from __future__ import annotations

import numpy as np

from drgst.errors import RunError
from drgst.graph.core import Graph
from drgst.nn.records import State
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.postprocess import Postprocess

CALIBRATION = "calibration/"  # of what the calibrator learnt, in the state of a stage; no module's name holds a slash
POSTPROCESS = "postprocess/{}/"  # of what a postprocess part learnt, by its place


class Arrays(dict[str, np.ndarray]):
    """Arrays of a saved state by name; one that is missing is an error of the file, not of the program."""

    def __missing__(self, name: str) -> np.ndarray:
        raise RunError(f"the model lacks the tensor {name!r}: it is damaged, or another version of drgst saved it")


def prefixed(prefix: str, learnt: State) -> dict[str, np.ndarray]:
    """What a part learnt, with names that no weight of a network has."""
    return {prefix + name: value for name, value in learnt.items()}


def own_state(state: State) -> Arrays:
    """The learner's own arrays."""
    return Arrays({name: value for name, value in state.items() if "/" not in name})


def predict_logits(recipe: AnyRecipe, state: State, graph: Graph, settings: Settings) -> np.ndarray:
    """(N, C) logits of a saved state on any graph with the same features, calibrated and postprocessed as it was."""
    logits = recipe.learner.predict(own_state(state), graph, settings)
    return adjust_logits(recipe, state, logits, graph, settings)


def adjust_logits(recipe: AnyRecipe, state: State, logits: np.ndarray, graph: Graph, settings: Settings) -> np.ndarray:
    """The learner's logits on ``graph``, (N, C), calibrated and postprocessed as the result was."""
    learnt = _under(CALIBRATION, state)
    if learnt:
        logits = recipe.calibrate.apply(learnt, logits, graph, settings.device)
    for place, part in enumerate(recipe.postprocess):
        if isinstance(part, Postprocess):  # a plain function knows one graph only
            logits = part.apply(_under(POSTPROCESS.format(place), state), logits, graph, settings.device)
    return logits


def _under(prefix: str, state: State) -> Arrays:
    return Arrays({name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)})
