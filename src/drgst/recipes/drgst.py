"""DR-GST in both variants, its ablations, and what its authors' program does."""

from __future__ import annotations

from functools import partial
from typing import Any

from drgst.recipes.presets import published
from drgst.recipes.registry import Make, recipe
from drgst.selftrain.correct.base import Correct
from drgst.selftrain.parts import (
    Agreement,
    CarriedTransition,
    InformationGain,
    MaxStages,
    Network,
    NoCorrection,
    NoNewLabels,
    Threshold,
    Transition,
    Uniform,
)
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings
from drgst.selftrain.stop.base import Stop
from drgst.selftrain.weigh.base import Weigh

PAPER = "Liu et al., Confidence May Cheat, WWW 2022"
# Algorithm 1 ends "at convergence" and the authors published a number of stages per cell. A stage too many can lower
# accuracy (see results/), so the result is the stage of lowest validation loss. keep=last is the last stage.
OURS: dict[str, Any] = {"keep": "best"}
RELEASED: dict[str, Any] = {"keep": "best", "start": "uniform", "patience": 100}


def until_convergence(settings: Settings) -> tuple[Stop, ...]:
    """S_U empty, S_U unchanged (or nearly, as ``agreement`` says), or ``stages`` done."""
    return NoNewLabels(), Agreement(settings.agreement), MaxStages(settings.stages)


def _drgst(settings: Settings, weigh: Weigh, correct: Correct) -> Recipe:
    return Recipe(select=Threshold(settings.threshold), weigh=weigh, correct=correct, stop=until_convergence(settings))


def _whole(settings: Settings) -> Recipe:
    """Algorithm 1: S_U = {r_u > τ}; B̄_u = B_u / (β mean B) on S_U; train, learn T (Eq. update_T), retrain with T."""
    return _drgst(settings, InformationGain(settings.beta), Transition())


def _correction_only(settings: Settings) -> Recipe:
    """The ablation with loss correction only: B̄ = 1 for all pseudo-labelled nodes."""
    return _drgst(settings, Uniform(), Transition())


def _gain_only(settings: Settings) -> Recipe:
    """The ablation with information-gain weights only: one training per stage, no T."""
    return _drgst(settings, InformationGain(settings.beta), NoCorrection())


def _neither(settings: Settings) -> Recipe:
    """The ablation without both: thresholded self-training."""
    return _drgst(settings, Uniform(), NoCorrection())


def _as_released(settings: Settings) -> Recipe:
    """The authors' published program: one training per stage with the T of the stage before, gain weights on true and
    pseudo-labelled nodes alike, T by 200 Adam steps towards I, every training from the same weights, a fixed number
    of stages. Its defect of overwriting true labels is left out; dropedge samples are drawn anew each stage."""
    return Recipe(
        select=Threshold(settings.threshold),
        weigh=InformationGain(settings.beta, over_true=True),
        correct=CarriedTransition(),
        stop=(NoNewLabels(), MaxStages(settings.stages)),
        learner=Network(same_start=True),
    )


ABLATIONS: dict[str, tuple[str, Make]] = {  # suffix -> summary, parts
    "": ("DR-GST, information gain by {}", _whole),
    "-lc": ("DR-GST by {}, loss correction only", _correction_only),
    "-ig": ("DR-GST by {}, information gain only", _gain_only),
    "-wo": ("DR-GST by {}, without both", _neither),
}
KINDS = {"do": "dropout", "de": "dropedge"}
_family = partial(recipe, paper=PAPER, presets=published)

for _kind, _gain in KINDS.items():
    for _suffix, (_summary, _build) in ABLATIONS.items():
        _family(f"drgst-{_kind}{_suffix}", _summary.format(_gain), gain=_gain, **OURS)(_build)
_family("drgst-both", "DR-GST, gain by dropout and dropedge together", gain="both", **OURS)(_whole)
for _kind, _gain in KINDS.items():
    _family(f"as-released-{_kind}", f"the authors' program, gain by {_gain}", gain=_gain, **RELEASED)(_as_released)
