"""Postprocessing for any recipe by its settings: calibration, correct-and-smooth and a stated class prior."""

from __future__ import annotations

from drgst.selftrain.calibrate.base import Calibrate
from drgst.selftrain.parts import BiasCorrected, CaGCN, Calibrated, CorrectAndSmooth, Identity, Mixing, Temperature
from drgst.selftrain.postprocess.class_prior import ClassPrior
from drgst.selftrain.postprocess.cross_fitted import CrossFitted
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.settings import Settings

READS = frozenset({"calibrate", "smooth", "correct_alpha", "smooth_alpha"})  # by every recipe
CALIBRATORS: dict[str, type[Calibrate]] = {
    "none": Identity,
    "temperature": Temperature,
    "bias": BiasCorrected,
    "mixing": Mixing,
    "cagcn": CaGCN,
}


def with_postprocessing(recipe: AnyRecipe, settings: Settings) -> AnyRecipe:
    """``recipe`` with ``settings.calibrate``, ``settings.smooth`` and ``settings.prior``.

    A recipe that calibrates in its loop (cagcn-st) gets the other calibrator there; in all others it is a
    postprocess part, so that no part of the loop sees what it does.
    """
    if settings.calibrate == "crossfit":
        recipe = recipe.with_parts(postprocess=(CrossFitted(always=True), *recipe.postprocess))
    elif settings.calibrate != "none":
        part = CALIBRATORS[settings.calibrate]()
        if isinstance(recipe.calibrate, Identity):
            recipe = recipe.with_parts(postprocess=(Calibrated(part), *recipe.postprocess))
        else:
            recipe = recipe.with_parts(calibrate=part)
    if settings.smooth != "none" and not any(isinstance(part, CorrectAndSmooth) for part in recipe.postprocess):
        smooth = CorrectAndSmooth(settings.correct_alpha, settings.smooth_alpha)
        recipe = recipe.with_parts(postprocess=(*recipe.postprocess, smooth))
    if settings.prior is not None:
        recipe = recipe.with_parts(postprocess=(*recipe.postprocess, ClassPrior(settings.prior)))
    return recipe
