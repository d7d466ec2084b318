"""A calibrator as a postprocess part: the loop does not see it, and a saved model applies it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.selftrain.history import result_stage
from drgst.selftrain.predict import own_state
from drgst.uncertainty.calibration import log_loss


@pytest.mark.parametrize("kind", ["temperature", "cagcn"])
@pytest.mark.parametrize("name", ["gcn", "drgst-de"])
def test_any_recipe_takes_it_by_a_setting(world: Any, kind: str, name: str) -> None:
    """Only the probabilities of the result change, and no class."""
    keep = world.problem(name).settings.keep
    plain, after = world.run(name), world.run(name, calibrate=kind)
    assert len(plain) == len(after)
    for one, two in zip(plain.stages, after.stages, strict=True):
        np.testing.assert_array_equal(one.pseudo_labels.nodes, two.pseudo_labels.nodes)
        np.testing.assert_array_equal(one.logits, two.logits)
        np.testing.assert_array_equal(one.predictions, two.predictions)
        assert np.array_equal(one.probabilities, two.probabilities) == (one.number != result_stage(plain, keep).number)


@pytest.mark.parametrize("kind", ["bias", "mixing"])
def test_a_shift_or_a_matrix_may_change_a_class(world: Any, kind: str) -> None:
    """Probabilities become likelier on the validation nodes."""
    keep = world.problem().settings.keep
    plain, after = (result_stage(world.run("drgst-de", calibrate=k), keep) for k in ("none", kind))
    val = world.split.val
    labels = world.graph.labels[val]
    np.testing.assert_array_equal(plain.logits, after.logits)
    assert log_loss(after.final_logits[val], labels) <= log_loss(plain.final_logits[val], labels)


@pytest.mark.parametrize("kind", ["temperature", "bias", "mixing", "cagcn"])
def test_a_saved_model_is_calibrated_too(world: Any, kind: str, tmp_path: Path) -> None:
    settings = {"epochs": 20, "hidden": 8, "calibrate": kind}
    model = drgst.SelfTraining("gcn", settings).fit(world.graph, world.split)
    assert 0 < len(own_state(model.model_.state)) < len(model.model_.state)
    model.save(str(tmp_path / "m"))
    loaded = drgst.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict_proba(), model.probabilities_)
    np.testing.assert_allclose(loaded.predict_proba(world.graph), model.probabilities_, atol=1e-6)
