"""Learners without a network: a run, its saved model, and their use in another recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.errors import SettingError
from drgst.selftrain.learners.logistic import LogisticPPR
from drgst.selftrain.learners.propagation import LabelPropagation
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.weigh import InformationGain


@pytest.mark.parametrize("name", ["label-propagation", "logistic-ppr"])
def test_a_run_and_its_model(world: Any, name: str, tmp_path: Path) -> None:
    model = drgst.SelfTraining(name).fit(world.graph, world.split)
    assert model.score(world.graph, world.split.test) > 0.5
    assert np.isnan(model.gain_).all()
    assert 0 < model.history_[0].val_accuracy <= 1
    model.save(str(tmp_path / "m"))
    loaded = drgst.load_model(str(tmp_path / "m"))
    np.testing.assert_allclose(loaded.predict_proba(world.graph), model.probabilities_, atol=1e-6)


@pytest.mark.parametrize("learner", [LabelPropagation(), LogisticPPR()])
def test_no_gain_is_refused_where_it_decides(world: Any, learner: Any) -> None:
    with pytest.raises(SettingError, match="no information gain"):
        drgst.SelfTraining(Recipe(learner=learner, weigh=InformationGain(0.5))).fit(world.graph, world.split)
