"""DR-GST in both variants, its ablations, and what its authors' program does."""

from __future__ import annotations

import inspect
from typing import Any

from drgst.recipes.presets import published, teacher_only, tuned, tuned_cells
from drgst.recipes.registry import Make, recipe
from drgst.selftrain.learners.network import DividedLoss, DividedTeacherLoss
from drgst.selftrain.parts import (
    Agreement,
    CarriedTransition,
    InformationGain,
    MaxStages,
    Network,
    NoCorrection,
    NoNewLabels,
    Threshold,
    TopPerClass,
    Transition,
    Uniform,
    Union,
    ValidationPlateau,
)
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.correct import Correct
from drgst.selftrain.slots.stop import Stop
from drgst.selftrain.slots.weigh import Weigh

PAPER = "Liu et al., Confidence May Cheat, WWW 2022"
# Algorithm 1 ends "at convergence" and the authors published a number of stages per cell. A stage too many can lower
# accuracy (see results/), so the result is the stage of lowest validation loss. keep=last is the last stage.
OURS: dict[str, Any] = {"keep": "best"}
RELEASED: dict[str, Any] = {"keep": "best", "start": "uniform", "patience": 100, "retries": 0}


def until_convergence(settings: Settings) -> tuple[Stop, ...]:
    """S_U empty, S_U unchanged (or nearly, as ``agreement`` says), or ``stages`` done."""
    return NoNewLabels(), Agreement(settings.agreement), MaxStages(settings.stages)


def by_threshold(settings: Settings) -> tuple[Stop, ...]:
    """As :func:`until_convergence`, or when the validation loss has not fallen for two stages."""
    return NoNewLabels(), Agreement(settings.agreement), ValidationPlateau(2), MaxStages(settings.stages)


def _drgst(settings: Settings, weigh: Weigh, correct: Correct) -> Recipe:
    return Recipe(select=Threshold(settings.threshold), weigh=weigh, correct=correct, stop=until_convergence(settings))


def _whole(settings: Settings) -> Recipe:
    """Algorithm 1: S_U = {r_u > τ}; B̄_u = B_u / (β mean B) on S_U; train, learn T (Eq. 15), retrain with T."""
    return _drgst(settings, InformationGain(settings.beta), Transition())


def _floor(settings: Settings) -> Recipe:
    """Algorithm 1 with S_U = {r_u > τ} ∪ the t_k most confident nodes predicted as k, for every class k.

    At 3 labels per class the threshold alone may leave a class without a pseudo-label, and the student then forgets it.
    ``top`` sets t_k; none: t_k of Li et al. 2018, in proportion to the pool.
    """
    return _whole(settings).with_parts(select=Union(Threshold(settings.threshold), TopPerClass(settings.top)))


def _tuned(settings: Settings) -> Recipe:
    """Algorithm 1 with settings chosen by validation accuracy over fresh draws, per data set and labels per class.

    Beside τ, β, the drop rate and the number of stages these are: the stage that is kept (``keep``), the scale of the
    teacher's loss (``teacher_scale``: 1, or 1/β as in the authors' program), and pseudo-labels of every class
    (``floor=top`` adds the t_k most confident nodes of each class to those above τ; ``top`` sets t_k). Where a cell was
    not tuned the settings are the published ones.
    """
    made = _floor(settings) if settings.floor == "top" else _whole(settings)
    scaled = settings.teacher_scale == "1/beta"
    return made.with_parts(learner=Network(objective=DividedTeacherLoss(settings.beta))) if scaled else made


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
    """The authors' published program: L = 1/β · mean of w_u l(ȳ_u, p_u T) over V_L ∪ S_U with w ∝ B + 1e-6 of mean 1.

    Every loss is divided by β, that of the teacher included. One training per stage. T is updated after every training,
    that of the teacher included, by 200 Adam steps towards I. All trainings have the same seed, and a dropedge sample
    has D̃^-½ (A ∘ Z + I)ᵀ D̃^-½. A fixed number of stages, and a student that collapsed is not trained again. The defect
    of overwriting true labels is left out.
    """
    return Recipe(
        select=Threshold(settings.threshold),
        weigh=InformationGain(1.0, over_true=True),
        correct=CarriedTransition(),
        stop=(NoNewLabels(), MaxStages(settings.stages)),
        learner=Network(objective=DividedLoss(settings.beta), one_seed=True, column_degrees=True),
    )


ABLATIONS: dict[str, tuple[str, Make]] = {  # suffix -> summary, parts
    "": ("DR-GST, information gain by {}", _whole),
    "-lc": ("DR-GST by {}, loss correction only", _correction_only),
    "-ig": ("DR-GST by {}, information gain only", _gain_only),
    "-wo": ("DR-GST by {}, without both", _neither),
}
KINDS = {"do": "dropout", "de": "dropedge"}


def _enter(name: str, summary: str, build: Make, gain: str, version: int = 1, **settings: Any) -> None:
    """Enter a recipe with the published presets, and say in its text where these train no student."""
    text = (
        f"{inspect.getdoc(build)}\n\nWith the published settings ``stages`` counts students: the published number of "
        f"trainings without that of the teacher. The result is the teacher alone, as one training was published, at: "
        f"{teacher_only('dropedge' if gain == 'both' else gain)} labels per class."
    )
    recipe(name, summary, PAPER, doc=text, version=version, presets=published, gain=gain, **settings)(build)


for _kind, _gain in KINDS.items():
    for _suffix, (_summary, _build) in ABLATIONS.items():
        _enter(f"drgst-{_kind}{_suffix}", _summary.format(_gain), _build, _gain, **OURS)
_enter("drgst-both", "DR-GST, gain by dropout and dropedge together", _whole, "both", **OURS)
for _kind, _gain in KINDS.items():
    _enter(f"drgst-{_kind}-floor", f"DR-GST by {_gain}, some pseudo-labels of every class", _floor, _gain, **OURS)
for _kind, _gain in KINDS.items():
    _enter(f"as-released-{_kind}", f"the authors' program, gain by {_gain}", _as_released, _gain, version=2, **RELEASED)
for _kind, _gain in KINDS.items():
    _text = f"{inspect.getdoc(_tuned)}\n\nTuned at: {tuned_cells(_gain) or 'no cell'} labels per class."
    _summary = f"DR-GST by {_gain}, settings tuned by validation"
    recipe(f"drgst-{_kind}-tuned", _summary, PAPER, doc=_text, presets=tuned, gain=_gain)(_tuned)
