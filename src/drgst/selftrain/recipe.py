"""A recipe names its parts; the engine does the rest."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from drgst.selftrain.correct import Correct, NoCorrection
from drgst.selftrain.learner import Learner, NetworkLearner
from drgst.selftrain.select import Nothing, Select
from drgst.selftrain.stop import Agreement, MaxStages, NoLabels, Stop
from drgst.selftrain.weigh import Uniform, Weigh


@dataclass(frozen=True)
class Recipe:
    """The parts of one method."""

    select: Select = field(default_factory=Nothing)  # which unlabelled nodes to trust
    weigh: Weigh = field(default_factory=Uniform)  # how much each counts
    correct: Correct = field(default_factory=NoCorrection)  # what to do about wrong pseudo-labels
    stop: tuple[Stop, ...] = (NoLabels(), Agreement(), MaxStages(3))  # when to end, the first reason counts
    learner: Learner = field(default_factory=NetworkLearner)  # what learns
    uses_gain: bool = False  # whether a part decides by information gain (else a cheap estimate is reported)
    carry: bool = False  # whether what was once trusted stays
    same_start: bool = False  # whether every training starts from the same weights (the published program)

    def parts(self) -> dict[str, str]:
        """Slot -> part, in words."""
        shown = {slot: describe(getattr(self, slot)) for slot in ("select", "weigh", "correct", "learner")}
        return {**shown, "stop": ", ".join(describe(s) for s in self.stop)}


def describe(part: Any) -> str:
    """``Threshold(threshold=0.6)`` for a part, its name for a function."""
    if not is_dataclass(part):
        return getattr(part, "__name__", type(part).__name__)
    shown = ", ".join(f"{f.name}={_short(getattr(part, f.name))}" for f in fields(part) if f.repr)
    return f"{type(part).__name__}({shown})"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return describe(value) if is_dataclass(value) or callable(value) else repr(value)
