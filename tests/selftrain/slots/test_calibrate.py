"""Calibration in the loop: argmax kept, error lowered on validation, refused without it, and kept over a resume."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drgst.graph.core import Graph
from drgst.nn.records import State
from drgst.runs.metrics import ClassScores
from drgst.selftrain.engine import believe, self_train
from drgst.selftrain.history import History
from drgst.selftrain.persist import load_stage, save_stage
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.calibrate import CaGCN, Calibrate, Identity, Temperature
from drgst.selftrain.slots.select import Threshold
from drgst.selftrain.slots.stop import MaxStages, NoNewLabels
from drgst.transforms.softmax import softmax


@pytest.fixture
def overconfident(world: Any) -> tuple[Problem, np.ndarray]:
    """Logits that are right two times in three, with far too much confidence."""
    rng = np.random.default_rng(2)
    y = world.graph.labels
    noise = rng.normal(size=(y.size, 3))
    return world.problem(), (6.0 * (np.eye(3)[y] + noise)).astype(np.float32)


@pytest.mark.parametrize("part", [Temperature(), CaGCN()])
def test_argmax_is_kept_and_the_error_falls(overconfident: tuple[Problem, np.ndarray], part: Any) -> None:
    problem, logits = overconfident
    val = problem.split.val
    made = part.apply(part.fit(logits, problem, 0), logits, problem.graph, "cpu")
    np.testing.assert_array_equal(made.argmax(axis=1), logits.argmax(axis=1))
    labels = problem.graph.labels[val]
    before, after = (ClassScores(softmax(z[val]), labels).ece() for z in (logits, made))
    assert after < before - 0.02


def test_identity_changes_nothing(world: Any, same: Callable[[History, History], None]) -> None:
    problem = world.problem()
    recipe = Recipe(select=Threshold(0.45), stop=(NoNewLabels(), MaxStages(1)))
    plain = self_train(problem, recipe)
    same(plain, self_train(problem, replace(recipe, calibrate=Identity())))
    assert plain[0].calibrated is None
    np.testing.assert_array_equal(plain[0].probabilities, softmax(plain[0].logits))


def test_parts_go_by_calibrated_confidence(world: Any) -> None:
    history = world.run("cagcn-st", threshold=0.5, stages=1)
    beliefs = believe(world.problem("cagcn-st"), history[0], 1)
    np.testing.assert_array_equal(beliefs.logits, history[0].calibrated)
    np.testing.assert_array_equal(beliefs.predictions, history[0].logits.argmax(axis=1))


def test_a_resumed_run_is_bit_identical(world: Any, same: Callable[[History, History], None], tmp_path: Path) -> None:
    """The first stage from its file, the others anew."""
    whole = world.run("cagcn-st", threshold=0.4, calibrate="cagcn")
    assert len(whole) > 1
    save_stage(whole[0], tmp_path / "0")
    loaded = load_stage(tmp_path / "0")
    np.testing.assert_array_equal(loaded.calibrated, whole[0].calibrated)
    resumed = world.run("cagcn-st", threshold=0.4, calibrate="cagcn", history=History((loaded,)))
    same(whole, resumed)
    for one, two in zip(whole.stages, resumed.stages, strict=True):
        np.testing.assert_array_equal(one.calibrated, two.calibrated)


@dataclass(frozen=True)
class Halved(Calibrate):
    """A calibrator of one's own that learns nothing and halves the logits."""

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> State:
        return {}

    def apply(self, learnt: State, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:
        return logits / 2


def test_a_calibrator_that_learns_nothing_is_applied(world: Any) -> None:
    """An empty mapping is not None."""
    recipe = Recipe(select=Threshold(0.45), stop=(MaxStages(1),), calibrate=Halved())
    for stage in self_train(world.problem(), recipe).stages:
        np.testing.assert_allclose(stage.calibrated, stage.logits / 2)


def test_it_depends_on_seed_and_stage_alone(overconfident: tuple[Problem, np.ndarray]) -> None:
    problem, logits = overconfident
    one, two = (CaGCN().fit(logits, problem, 1) for _ in range(2))
    other = CaGCN().fit(logits, problem, 2)
    assert all((one[name] == two[name]).all() for name in one)
    assert any((one[name] != other[name]).any() for name in one)
