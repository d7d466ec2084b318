"""What every postprocess part keeps to, also a user's own."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from drgst.selftrain.engine import self_train
from drgst.selftrain.history import result_stage
from drgst.selftrain.parts import BiasCorrected, Calibrated, CorrectAndSmooth, MaxStages, Temperature, Threshold
from drgst.selftrain.recipe import Recipe, predict_logits
from drgst.selftrain.slots.postprocess import Adjusted, ClassPrior, Context, Postprocess


def halved(logits: np.ndarray, context: Context) -> np.ndarray:
    """A user's function."""
    return logits / 2


@dataclass(frozen=True)
class MeanOfRuns(Postprocess):
    """A user's part that runs the recipe again with another seed."""

    weight: float = 0.5

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        again = context.rerun(replace(context.problem, seed=1), context.recipe.with_parts(postprocess=()))
        other = result_stage(again, context.problem.settings.keep).final_logits
        made = (1 - self.weight) * logits + self.weight * other
        return Adjusted(made, {"weight": np.array(self.weight)}, "Mean of two runs.")


SLOT = "postprocess"
OURS = (Calibrated(Temperature()), Calibrated(BiasCorrected()), CorrectAndSmooth(), ClassPrior("0=0.2"))
OWN = (halved, MeanOfRuns())


@pytest.mark.parametrize("keep", ["last", "best"])
def test_the_result_alone_is_changed(part: Any, keep: str, world: Any) -> None:
    """Shape kept, all finite; the loop and the other stages are as without the part."""
    problem = world.problem(epochs=10, keep=keep)
    recipe = Recipe(select=Threshold(0.4), stop=(MaxStages(2),))
    plain, made = (self_train(problem, recipe.with_parts(postprocess=parts)) for parts in ((), (part,)))
    number = result_stage(plain, keep).number
    for one, two in zip(plain.stages, made.stages, strict=True):
        np.testing.assert_array_equal(one.logits, two.logits)
        np.testing.assert_array_equal(one.pseudo_labels.nodes, two.pseudo_labels.nodes)
        assert (two.postprocessed is not None) == (two.number == number)
    result = result_stage(made, keep)
    assert result.final_logits.shape == (60, 3)
    assert np.isfinite(result.final_logits).all()
    assert not np.array_equal(result.final_logits, result.logits)


def test_several_are_applied_in_order(part: Any, world: Any) -> None:
    problem = world.problem(epochs=10)
    both = self_train(problem, Recipe(postprocess=(part, halved)))[0]
    one = self_train(problem, Recipe(postprocess=(part,)))[0]
    np.testing.assert_allclose(both.final_logits, one.final_logits / 2)


def test_a_graph_that_was_not_fitted_on(part: Any, world: Any, worlds: Any) -> None:
    """What a part has learnt is applied there; what it can't carry over is left out."""
    problem = world.problem(epochs=10)
    recipe = Recipe(postprocess=(part,))
    stage = self_train(problem, recipe)[0]
    other = worlds(nodes=90).graph
    assert predict_logits(recipe, stage.state, other, problem.settings).shape == (90, 3)
    if isinstance(part, Calibrated):
        here = predict_logits(recipe, stage.state, problem.graph, problem.settings)
        np.testing.assert_allclose(here, stage.final_logits, atol=1e-5)
