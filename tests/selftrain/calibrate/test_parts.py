"""Calibration: argmax kept, calibration error lowered on validation, refused without it, and kept over a resume."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.errors import SettingError
from drgst.recipes import find_recipe
from drgst.runs.metrics import calibration_error
from drgst.selftrain.beliefs import softmax
from drgst.selftrain.calibrate.parts import CaGCN, Identity, Temperature, parted
from drgst.selftrain.callbacks import Callback
from drgst.selftrain.engine import believe, self_train
from drgst.selftrain.history import History
from drgst.selftrain.learners.network import Problem
from drgst.selftrain.persist.stage import load_stage, save_stage
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.select.threshold import Threshold
from drgst.selftrain.stop.parts import MaxStages, NoNewLabels
from drgst.uncertainty.calibration import log_loss


def overconfident(world: Any, factor: float = 6.0) -> tuple[Problem, np.ndarray]:
    """Logits that are right two times in three, but say so far too loudly."""
    rng = np.random.default_rng(2)
    y = world.graph.labels
    noise = rng.normal(size=(y.size, 3))
    return world.problem(), (factor * (np.eye(3)[y] + noise)).astype(np.float32)


@pytest.mark.parametrize("part", [Temperature(), CaGCN()])
def test_argmax_is_kept_and_the_error_falls(world: Any, part: Any) -> None:
    problem, logits = overconfident(world)
    val = problem.split.val
    made = part.apply(part.fit(logits, problem, 0), logits, problem.graph, "cpu")
    np.testing.assert_array_equal(made.argmax(axis=1), logits.argmax(axis=1))
    labels = problem.graph.labels[val]
    before, after = (calibration_error(softmax(z[val]), labels, 10) for z in (logits, made))
    assert after < before - 0.02


def test_cagcn_repeats_itself(world: Any) -> None:
    problem, logits = overconfident(world)
    one, two = (CaGCN().fit(logits, problem, 1) for _ in range(2))
    other = CaGCN().fit(logits, problem, 2)
    assert all((one[name] == two[name]).all() for name in one)
    assert any((one[name] != other[name]).any() for name in one)


@pytest.mark.parametrize("part", [Temperature(), CaGCN()])
def test_without_validation_it_is_refused_before_any_training(world: Any, part: Any) -> None:
    problem = world.problem()
    bare = replace(problem, split=problem.split.without_validation())
    began: list[int] = []
    callback = type("Told", (Callback,), {"training": lambda *_: began.append(1)})()
    with pytest.raises(SettingError, match="validation nodes, but the split has none"):
        self_train(bare, Recipe(calibrate=part), callback)
    assert not began


def test_identity_changes_nothing(world: Any, same: Callable[[History, History], None]) -> None:
    problem = world.problem()
    recipe = Recipe(select=Threshold(0.45), stop=(NoNewLabels(), MaxStages(1)))
    plain = self_train(problem, recipe)
    same(plain, self_train(problem, replace(recipe, calibrate=Identity())))
    assert plain[0].calibrated is None
    np.testing.assert_array_equal(plain[0].probabilities, softmax(plain[0].logits))


def test_the_choice_sees_calibrated_confidence(world: Any) -> None:
    history = world.run("cagcn-st", threshold=0.5, stages=1)
    problem = world.problem("cagcn-st", threshold=0.5, stages=1)
    recipe = find_recipe("cagcn-st").make(problem.settings)
    beliefs = believe(problem, History(history.stages[:1]), recipe)
    np.testing.assert_array_equal(beliefs.logits, history[0].calibrated)
    np.testing.assert_array_equal(beliefs.predictions, history[0].logits.argmax(axis=1))
    late = believe(problem, History(history.stages[:1]), replace(recipe, calibrate_last=True))
    np.testing.assert_array_equal(late.logits, history[0].logits)


def test_a_resumed_run_has_the_same_bits(world: Any, same: Callable[[History, History], None], tmp_path: Path) -> None:
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


@pytest.mark.parametrize("kind", ["temperature", "cagcn"])
@pytest.mark.parametrize("name", ["gcn", "drgst-de"])
def test_any_recipe_takes_it_afterwards(world: Any, kind: str, name: str) -> None:
    """The loop's choices stay the same; only the probabilities change, and no class."""
    plain, after = world.run(name), world.run(name, calibrate=kind)
    assert len(plain) == len(after)
    for one, two in zip(plain.stages, after.stages, strict=True):
        np.testing.assert_array_equal(one.pseudo.nodes, two.pseudo.nodes)
        np.testing.assert_array_equal(one.logits, two.logits)
        np.testing.assert_array_equal(one.predictions, two.predictions)
        assert not np.array_equal(one.probabilities, two.probabilities)


@pytest.mark.parametrize("kind", ["bias", "mixing"])
def test_a_shift_or_a_matrix_may_change_a_class(world: Any, kind: str) -> None:
    """The loop's choices stay; probabilities become likelier on the validation nodes."""
    plain, after = world.run("drgst-de"), world.run("drgst-de", calibrate=kind)
    val = world.split.val
    for one, two in zip(plain.stages, after.stages, strict=True):
        np.testing.assert_array_equal(one.pseudo.nodes, two.pseudo.nodes)
        np.testing.assert_array_equal(one.logits, two.logits)
        assert log_loss(two.calibrated[val], world.graph.labels[val]) <= log_loss(
            one.logits[val], world.graph.labels[val]
        )


@pytest.mark.parametrize("kind", ["temperature", "bias", "mixing", "cagcn"])
def test_a_saved_model_is_calibrated_too(world: Any, kind: str, tmp_path: Path) -> None:
    settings = {"epochs": 20, "hidden": 8, "calibrate": kind}
    model = drgst.SelfTraining("gcn", settings).fit(world.graph, world.split)
    own, learnt = parted(model.model_.state)
    assert own
    assert learnt
    model.save(str(tmp_path / "m"))
    loaded = drgst.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict_proba(), model.probabilities_)
    np.testing.assert_allclose(loaded.predict_proba(world.graph), model.probabilities_, atol=1e-6)
