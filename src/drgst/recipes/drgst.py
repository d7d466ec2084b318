"""DR-GST in both variants, its ablations, and what its authors' program does."""

from __future__ import annotations

from typing import Any

from drgst.recipes.registry import recipe
from drgst.selftrain.correct.parts import CarriedTransition, Correct, NoCorrection, Transition
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.select.threshold import Threshold
from drgst.selftrain.settings import Settings
from drgst.selftrain.stop.parts import Agreement, MaxStages, NoNewLabels, Stop
from drgst.selftrain.weigh.information_gain import InformationGain, Uniform, Weigh

PAPER = "Liu et al., Confidence May Cheat, WWW 2022"
# Algorithm 1 ends "at convergence" and the authors published a number of stages a cell; a stage too many can undo the
# gain (see results/), so the result is the stage of lowest validation loss. keep=last is the literal last stage.
OURS = {"keep": "best"}
RELEASED: dict[str, Any] = {"keep": "best", "start": "uniform", "patience": 100}


def until_convergence(settings: Settings) -> tuple[Stop, ...]:
    """S_U empty, S_U unchanged (or nearly, as ``agreement`` says), or ``stages`` done."""
    return NoNewLabels(), Agreement(settings.agreement), MaxStages(settings.stages)


def _drgst(settings: Settings, weigh: Weigh, correct: Correct) -> Recipe:
    return Recipe(
        select=Threshold(settings.threshold),
        weigh=weigh,
        correct=correct,
        stop=until_convergence(settings),
        uses_gain=isinstance(weigh, InformationGain),
    )


def _whole(settings: Settings) -> Recipe:
    """Algorithm 1: S_U = {r_u > τ}; B̄_u = B_u / (β mean B) on S_U; train, learn T (Eq. update_T), retrain with T."""
    return _drgst(settings, InformationGain(settings.beta), Transition())


def _correction_only(settings: Settings) -> Recipe:
    """The ablation with loss correction only: B̄ = 1 for all pseudo-labelled nodes."""
    return _drgst(settings, Uniform(), Transition())


def _gain_only(settings: Settings) -> Recipe:
    """The ablation with information-gain weights only: one training a stage, no T."""
    return _drgst(settings, InformationGain(settings.beta), NoCorrection())


def _neither(settings: Settings) -> Recipe:
    """The ablation without both: thresholded self-training."""
    return _drgst(settings, Uniform(), NoCorrection())


def _as_released(settings: Settings) -> Recipe:
    """The authors' published program: one training a stage with the T of the stage before, gain weights on true and
    pseudo-labelled nodes alike, T by 200 Adam steps towards I, every training from the same weights, a fixed number
    of stages. Its defect of overwriting true labels is left out; dropedge samples are drawn anew each stage."""
    return Recipe(
        select=Threshold(settings.threshold),
        weigh=InformationGain(settings.beta, over_true=True),
        correct=CarriedTransition(),
        stop=(NoNewLabels(), MaxStages(settings.stages)),
        uses_gain=True,
        same_start=True,
    )


for suffix, gain in (("do", "dropout"), ("de", "dropedge")):
    recipe(f"drgst-{suffix}", f"DR-GST, information gain by {gain}", PAPER, gain=gain, **OURS)(_whole)
    recipe(f"drgst-{suffix}-lc", f"DR-GST by {gain}, loss correction only", PAPER, gain=gain, **OURS)(_correction_only)
    recipe(f"drgst-{suffix}-ig", f"DR-GST by {gain}, information gain only", PAPER, gain=gain, **OURS)(_gain_only)
    recipe(f"drgst-{suffix}-wo", f"DR-GST by {gain}, without both", PAPER, gain=gain, **OURS)(_neither)
recipe("drgst-both", "DR-GST, gain by dropout and dropedge together", PAPER, gain="both", **OURS)(_whole)
for suffix, gain in (("do", "dropout"), ("de", "dropedge")):
    recipe(f"as-released-{suffix}", f"the authors' program, gain by {gain}", PAPER, gain=gain, **RELEASED)(_as_released)
