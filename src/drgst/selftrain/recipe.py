"""A recipe names its parts; the engine does the rest."""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any

from drgst.selftrain.calibrate.parts import Calibrate, Identity
from drgst.selftrain.correct.parts import Correct, NoCorrection
from drgst.selftrain.learners.network import Learner, Network
from drgst.selftrain.postprocess.smooth import Finish
from drgst.selftrain.select.threshold import Nothing, Select
from drgst.selftrain.stop.parts import Agreement, MaxStages, NoNewLabels, Stop
from drgst.selftrain.weigh.information_gain import Uniform, Weigh


@dataclass(frozen=True)
class Recipe:
    """The parts of one method."""

    select: Select = field(default_factory=Nothing)  # which unlabelled nodes to trust
    weigh: Weigh = field(default_factory=Uniform)  # how much each counts
    correct: Correct = field(default_factory=NoCorrection)  # what to do about wrong pseudo-labels
    stop: tuple[Stop, ...] = (NoNewLabels(), Agreement(), MaxStages(3))  # when to end, the first reason counts
    learner: Learner = field(default_factory=Network)  # what learns
    calibrate: Calibrate = field(default_factory=Identity)  # are the probabilities honest
    finish: tuple[Finish, ...] = ()  # what is done to the predictions of the result
    uses_gain: bool = False  # whether a function of the user's decides by information gain; our parts say it themselves
    carry: bool = False  # whether what was once trusted stays
    same_start: bool = False  # whether every training starts from the same weights (the published program)
    calibrate_last: bool = False  # whether calibration is for the result alone, unseen by the other parts
    alternatives: bool = False  # whether every stage goes back to the first teacher: not steps, but alternatives

    @property
    def gain_decides(self) -> bool:
        """Whether a part decides by information gain: said by ``uses_gain``, here or on a part, however wrapped."""
        return self.uses_gain or any(_uses_gain(part) for part in (self.select, self.weigh))

    def parts(self) -> dict[str, str]:
        """Slot -> part, in words."""
        slots = ("select", "weigh", "correct", "calibrate", "learner")
        shown = {slot: describe(getattr(self, slot)) for slot in slots}
        many = {slot: ", ".join(describe(part) for part in getattr(self, slot)) for slot in ("stop", "finish")}
        return {**shown, **{slot: words or "none" for slot, words in many.items()}}


def _uses_gain(part: Any) -> bool:
    if isinstance(part, tuple):
        return any(_uses_gain(p) for p in part)
    inner = fields(part) if is_dataclass(part) else ()
    return bool(getattr(part, "uses_gain", False)) or any(_uses_gain(getattr(part, f.name)) for f in inner)


def describe(part: Any) -> str:
    """``Threshold(threshold=0.6)`` for a part, without arguments left at their defaults; its name for a function."""
    if not is_dataclass(part):
        return getattr(part, "__name__", type(part).__name__)
    shown = ", ".join(f"{f.name}={_short(getattr(part, f.name))}" for f in fields(part) if f.repr and _said(part, f))
    return f"{type(part).__name__}({shown})"


def _said(part: Any, argument: Field[Any]) -> bool:
    default = argument.default if argument.default_factory is MISSING else argument.default_factory()
    return getattr(part, argument.name) != default


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        return f"({', '.join(_short(v) for v in value)})"
    return describe(value) if is_dataclass(value) or callable(value) else repr(value)
