"""The students of all stages speak as one: in the run, in its model, after saving, and only where it was asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

import drgst
from drgst.graph.split import Split
from drgst.selftrain.engine import result_stage
from drgst.selftrain.ensemble import mean_log_p, merged_state, states
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.recipes import find_recipe

SETTINGS = {"epochs": 15, "hidden": 8, "stages": 3, "threshold": 0.3, "agreement": 1.0}


def recipe(ensemble: bool = True) -> Recipe:
    spec = find_recipe("drgst-de")
    return replace(spec.make(spec.settings(SETTINGS)), ensemble=ensemble)


@pytest.fixture(scope="module")
def fitted(world: Any) -> drgst.SelfTraining:
    return drgst.SelfTraining(recipe(), SETTINGS).fit(world.graph, world.split)


def test_the_result_is_the_mean_of_all_accepted_students(fitted: drgst.SelfTraining) -> None:
    students = fitted.history_.accepted[1:]
    assert len(students) > 1
    expected = np.mean([log_softmax(s.logits.astype(np.float64), axis=1) for s in students], axis=0)
    result = result_stage(fitted.history_, fitted.settings_.keep)
    np.testing.assert_allclose(result.finished, expected, atol=1e-6)
    np.testing.assert_array_equal(fitted.predict(), expected.argmax(axis=1))
    assert result.note.endswith("the mean of the students of stages " + ", ".join(str(s.number) for s in students))


def test_the_model_predicts_as_the_run_did(world: Any, fitted: drgst.SelfTraining) -> None:
    assert len(states(fitted.model_.state)) == len(fitted.history_.accepted) - 1
    np.testing.assert_allclose(fitted.predict_proba(world.graph), fitted.predict_proba(), atol=1e-6)


def test_without_validation_labels_the_last_student_speaks(world: Any) -> None:
    """Nothing says that the earlier ones are worth hearing."""
    empty = np.empty(0, dtype=np.int64)
    split = Split(world.split.train, empty, world.split.test, world.split.pool)
    model = drgst.SelfTraining(recipe(), SETTINGS).fit(world.graph, split)
    assert all(stage.finished is None for stage in model.history_.stages)
    assert len(states(model.model_.state)) == 1


def test_the_loop_does_not_see_it(world: Any, fitted: drgst.SelfTraining) -> None:
    alone = drgst.SelfTraining(recipe(ensemble=False), SETTINGS).fit(world.graph, world.split)
    assert all(stage.finished is None for stage in alone.history_.stages)
    for one, two in zip(fitted.history_.stages, alone.history_.stages, strict=True):
        np.testing.assert_array_equal(one.logits, two.logits)


def test_drgst_plus_is_saved_whole(world: Any, tmp_path: Path) -> None:
    model = drgst.SelfTraining("drgst-plus", {"view": "topology"}).fit(world.graph, world.split)
    model.save(str(tmp_path / "m"))
    loaded = drgst.load_model(str(tmp_path / "m"))
    assert len(states(loaded.model_.state)) == 3
    np.testing.assert_array_equal(loaded.predict_proba(), model.predict_proba())
    np.testing.assert_allclose(loaded.predict_proba(world.graph), model.predict_proba(), atol=1e-6)


def test_states_come_apart_as_they_were_put_together(fitted: drgst.SelfTraining) -> None:
    students = list(fitted.history_.accepted[1:])
    many = [replace(students[0], number=n) for n in (1, 2, 10)]
    apart = states(merged_state(many))
    assert len(apart) == 3
    for state in apart:
        assert state.keys() == students[0].state.keys()
    assert states(students[0].state) == [dict(students[0].state)]
    np.testing.assert_allclose(np.exp(mean_log_p([s.logits for s in many])).sum(axis=1), 1, rtol=1e-5)
