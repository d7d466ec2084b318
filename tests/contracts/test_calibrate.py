"""What every calibrator keeps to, also a user's own, in the loop and as a postprocess part."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from drgst.errors import SettingError
from drgst.graph.core import Graph
from drgst.nn.records import State
from drgst.selftrain.engine import self_train
from drgst.selftrain.parts import BiasCorrected, CaGCN, Calibrated, Identity, MaxStages, Mixing, Temperature, Threshold
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.calibrate import Calibrate


@dataclass(frozen=True)
class Fixed(Calibrate):
    """A user's calibrator without validation nodes."""

    temperature: float

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> State:
        return {"t": np.array(self.temperature, dtype=np.float32)}

    def apply(self, learnt: State, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:
        return logits / learnt["t"]


SLOT = "calibrate"
OURS = (Identity(), Temperature(), BiasCorrected(), Mixing(), CaGCN())
OWN = (Fixed(2.0),)


def test_shape_and_type_are_kept(part: Calibrate, world: Any) -> None:
    problem = world.problem()
    logits = np.random.default_rng(0).normal(scale=2, size=(60, 3)).astype(np.float32)
    learnt = part.fit(logits, problem, 1)
    if learnt is None:
        assert isinstance(part, Identity)
        return
    assert all(isinstance(value, np.ndarray) for value in learnt.values())
    made = part.apply(learnt, logits, problem.graph, "cpu")
    assert (made.shape, made.dtype) == (logits.shape, logits.dtype)
    assert np.isfinite(made).all()
    again = part.fit(logits, problem, 1)
    np.testing.assert_array_equal(part.apply(again, logits, problem.graph, "cpu"), made)


def test_test_labels_are_not_read(part: Calibrate, world: Any) -> None:
    problem = world.problem(epochs=5)
    shown = replace(problem, graph=problem.graph.with_(labels=world.graph.labels))
    recipe = Recipe(calibrate=part, select=Threshold(0.4), stop=(MaxStages(1),))
    one, two = (self_train(p, recipe) for p in (problem, shown))
    np.testing.assert_array_equal(one[-1].final_logits, two[-1].final_logits)


@pytest.mark.parametrize("slot", ["calibrate", "postprocess"])
def test_it_works_without_validation_nodes_or_declares_that_it_needs_them(
    part: Calibrate, slot: str, world: Any
) -> None:
    problem = world.problem(fixed_epochs=5)
    bare = replace(problem, split=problem.split.without_validation())
    recipe = Recipe(calibrate=part) if slot == "calibrate" else Recipe(postprocess=(Calibrated(part),))
    if "validation" not in part.requires:
        assert np.isfinite(self_train(bare, recipe)[0].final_logits).all()
        return
    with pytest.raises(SettingError, match=f"{type(part).__name__} is fitted to validation nodes"):
        self_train(bare, recipe)
