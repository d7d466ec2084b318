"""A recipe names its parts; the engine runs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from drgst.errors import RunError
from drgst.graph.core import Graph
from drgst.nn.records import State, under
from drgst.selftrain.learners.base import Learner
from drgst.selftrain.learners.network import Network
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.calibrate import Calibrate, Identity
from drgst.selftrain.slots.correct import Correct, NoCorrection
from drgst.selftrain.slots.postprocess import Postprocess
from drgst.selftrain.slots.select import Nothing, Select
from drgst.selftrain.slots.stop import Agreement, MaxStages, NoNewLabels, Stop
from drgst.selftrain.slots.weigh import Uniform, Weigh

if TYPE_CHECKING:
    from drgst.selftrain.best_of import BestOf


@dataclass(frozen=True, repr=False)
class Recipe:
    """The parts of one method.

    A part may declare ``requires``: ``"gain"`` where it decides by information gain, which is then estimated as the
    settings say and not as cheaply as possible, and ``"validation"`` where it needs validation nodes.
    """

    select: Select = field(default_factory=Nothing)  # which unlabelled nodes get a pseudo-label
    weigh: Weigh = field(default_factory=Uniform)  # how much each counts
    correct: Correct = field(default_factory=NoCorrection)  # what to do about wrong pseudo-labels
    stop: tuple[Stop, ...] = (NoNewLabels(), Agreement(), MaxStages(3))  # when to end, the first reason counts
    learner: Learner = field(default_factory=Network)  # what is trained
    calibrate: Calibrate = field(default_factory=Identity)  # calibrated probabilities, for the parts and the result
    postprocess: tuple[Postprocess, ...] = ()  # what is done to the predictions of the result

    @property
    def requires(self) -> frozenset[str]:
        """What the parts require, also those that are wrapped by others."""
        return frozenset(name for part in wrapped(self) for name in getattr(part, "requires", ()))

    @property
    def reads(self) -> frozenset[str]:
        """The settings that the engine and the parts read while they run."""
        names = {"keep"}.union(*(getattr(part, "reads", ()) for part in wrapped(self)))
        if isinstance(self.select, Nothing):  # only a teacher is trained
            names -= {"keep", "on_collapse"}
        if "gain" not in self.requires:
            names -= {"estimator"}  # the cheapest one is used
        return frozenset(names)

    def with_parts(self, **parts: Any) -> Recipe:
        return replace(self, **parts)

    def __repr__(self) -> str:
        given = (f for f in fields(self) if _given(self, f))
        return f"Recipe({', '.join(f'{slot.name}={_words(getattr(self, slot.name))}' for slot in given)})"

    def parts(self) -> dict[str, str]:
        """Slot -> part, in words."""
        return {slot.name: _words(getattr(self, slot.name)) for slot in fields(self)}


AnyRecipe: TypeAlias = "Recipe | BestOf"


def wrapped(part: Any) -> Iterator[Any]:
    """The values of the fields of ``part``, and of the fields of the parts that it wraps."""
    for inner in part if isinstance(part, tuple) else [getattr(part, f.name) for f in fields(part)]:
        yield inner
        if isinstance(inner, tuple) or (is_dataclass(inner) and not isinstance(inner, type)):
            yield from wrapped(inner)


def find_setting(part: Any, name: str) -> Any:
    """The field ``name`` of a part, or of a part within it; None where there is none."""
    every = (part, *wrapped(part)) if is_dataclass(part) else ()
    found = (getattr(each, name, None) for each in every if is_dataclass(each))
    return next((value for value in found if value is not None), None)


def part_name(part: Any) -> str:
    """The name of a function, or of a part's class."""
    return getattr(part, "__name__", type(part).__name__)


def describe(part: Any) -> str:
    """``Threshold(threshold=0.6)`` for a part, without arguments left at their defaults; its name for a function."""
    if not is_dataclass(part):
        return part_name(part)
    shown = ", ".join(f"{f.name}={_short(getattr(part, f.name))}" for f in fields(part) if f.repr and _given(part, f))
    return f"{type(part).__name__}({shown})"


def _words(slot: Any) -> str:
    return (", ".join(describe(part) for part in slot) or "none") if isinstance(slot, tuple) else describe(slot)


def _given(part: Any, argument: Field[Any]) -> bool:
    default = argument.default if argument.default_factory is MISSING else argument.default_factory()
    return getattr(part, argument.name) != default


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        return f"({', '.join(_short(v) for v in value)})"
    return describe(value) if is_dataclass(value) or callable(value) else repr(value)


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
    learnt = Arrays(under(CALIBRATION, state))
    if learnt:
        logits = recipe.calibrate.apply(learnt, logits, graph, settings.device)
    for place, part in enumerate(recipe.postprocess):
        if isinstance(part, Postprocess):  # a plain function works on one graph only
            logits = part.apply(Arrays(under(POSTPROCESS.format(place), state)), logits, graph, settings.device)
    return logits
