"""The variants of STs, M3S and ABN that select by a threshold, beside the originals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drgst.recipes import find_recipe
from drgst.selftrain.learners.adaptive import Adaptive
from drgst.selftrain.slots.select import ClusterChecked, Threshold
from drgst.selftrain.slots.stop import MaxStages, ValidationPlateau

VARIANTS = ("sts-threshold", "m3s-threshold", "abn-threshold")


@pytest.mark.parametrize("name", VARIANTS)
def test_up_to_ten_stages_by_threshold(name: str) -> None:
    spec = find_recipe(name)
    settings = spec.settings({"threshold": 0.65})
    made = spec.make(settings)
    assert settings.keep == "best"
    assert {ValidationPlateau(2), MaxStages(10)} <= set(made.stop)
    inner = made.select.inner if isinstance(made.select, ClusterChecked) else made.select
    assert inner == Threshold(0.65)


@pytest.mark.parametrize("name", VARIANTS)
def test_pseudo_labels_are_above_the_threshold(world: Any, name: str) -> None:
    history = world.run(name, threshold=0.5, stages=2)
    assert len(history) > 1
    for teacher, stage in zip(history.stages, history.stages[1:], strict=False):
        confident = np.flatnonzero(teacher.probabilities.max(axis=1) > 0.5)
        allowed = np.intersect1d(confident, world.split.pool)
        assert stage.pseudo_labels.nodes.size
        assert np.isin(stage.pseudo_labels.nodes, allowed).all()
        if name != "m3s-threshold":
            np.testing.assert_array_equal(stage.pseudo_labels.nodes, allowed)


def test_abn_in_stages_has_the_same_loss(world: Any) -> None:
    made = find_recipe("abn-threshold").make(find_recipe("abn-threshold").settings())
    original = find_recipe("abn").make(find_recipe("abn").settings())
    assert made.learner.objective == Adaptive(0.9, 0.1, 0.1, staged=True)
    assert original.learner.objective == Adaptive(0.7, 0.1, 0.1)
