"""Post-processing for any recipe, as the settings ask: calibration, and correct-and-smooth."""

from __future__ import annotations

from dataclasses import replace

from drgst.selftrain.calibrate.parts import CALIBRATORS, Identity
from drgst.selftrain.postprocess.smooth import CorrectAndSmooth
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings


def dressed(recipe: Recipe, settings: Settings) -> Recipe:
    """``recipe`` with ``settings.calibrate`` and ``settings.smooth``.

    Where the recipe does not calibrate by itself, calibration is for the result alone: what the parts of the loop
    see stays as it was. A recipe that calibrates by itself (cagcn-st) gets another calibrator in the same place.
    """
    if settings.calibrate != "none":
        last = recipe.calibrate_last or isinstance(recipe.calibrate, Identity)
        recipe = replace(recipe, calibrate=CALIBRATORS[settings.calibrate](), calibrate_last=last)
    if settings.smooth != "none" and not any(isinstance(part, CorrectAndSmooth) for part in recipe.finish):
        smooth = CorrectAndSmooth(settings.correct_alpha, settings.smooth_alpha)
        recipe = replace(recipe, finish=(*recipe.finish, smooth))
    return recipe
