"""DR-GST, its ablations, and the variants of STs, M3S and ABN that select by a threshold: which parts each names."""

from typing import Any

import numpy as np
import pytest

from drgst.errors import SettingError
from drgst.recipes import find_recipe
from drgst.recipes.presets import tuned_cells
from drgst.selftrain.learners.network import DividedLoss, DividedTeacherLoss, Network
from drgst.selftrain.learners.objectives import Adaptive
from drgst.selftrain.slots.correct import CarriedTransition, NoCorrection, Transition
from drgst.selftrain.slots.select import ClusterChecked, Threshold, TopPerClass, Union
from drgst.selftrain.slots.stop import MaxStages, ValidationPlateau
from drgst.selftrain.slots.weigh import InformationGain, Uniform

PARTS = {
    "drgst-{}": (InformationGain, Transition),
    "drgst-{}-lc": (Uniform, Transition),
    "drgst-{}-ig": (InformationGain, NoCorrection),
    "drgst-{}-wo": (Uniform, NoCorrection),
    "as-released-{}": (InformationGain, CarriedTransition),
}


@pytest.mark.parametrize("pattern", PARTS)
@pytest.mark.parametrize(("short", "gain"), [("do", "dropout"), ("de", "dropedge")])
def test_parts_of_each(pattern: str, short: str, gain: str) -> None:
    spec = find_recipe(pattern.format(short))
    settings = spec.settings({"threshold": 0.7, **({"beta": "1/4"} if PARTS[pattern][0] is InformationGain else {})})
    made = spec.make(settings)
    weigh, correct = PARTS[pattern]
    assert isinstance(made.weigh, weigh)
    assert isinstance(made.correct, correct)
    assert made.select == Threshold(0.7)
    assert settings.gain == gain
    assert ("gain" in made.requires) == (weigh is InformationGain)
    if weigh is InformationGain:
        released = pattern.startswith("as-released")
        assert made.weigh == InformationGain(1.0 if released else 0.25, over_true=released)
    if pattern.startswith("as-released"):
        assert made.learner == Network(objective=DividedLoss(0.25), one_seed=True, column_degrees=True)
    else:
        assert made.learner == Network()


@pytest.mark.parametrize(
    ("name", "cells"),
    [("drgst-do", "Pubmed 3, 5, 10 labels"), ("as-released-de", "Citeseer 3;"), ("drgst-both", "Flickr 3")],
)
def test_the_text_says_where_the_result_is_the_teacher(name: str, cells: str) -> None:
    assert "the teacher alone" in find_recipe(name).doc
    assert cells in find_recipe(name).doc


@pytest.mark.parametrize("name", ["drgst-do-floor", "drgst-de-floor"])
def test_a_floor_for_every_class(world: Any, name: str) -> None:
    """Every predicted class has its most confident nodes, also where none is above the threshold."""
    history = world.run(name, threshold=0.99, top=2, stages=1)
    pool = world.split.pool
    predicted = np.bincount(history[0].predictions[pool], minlength=3)
    found = np.bincount(history[1].pseudo_labels.labels, minlength=3)
    assert (found >= np.minimum(predicted, 2)).all()
    assert isinstance(find_recipe(name).make(find_recipe(name).settings()).correct, Transition)


@pytest.mark.parametrize("kind", ["do", "de"])
def test_tuned_with_the_settings_of_drgst_is_drgst(world: Any, kind: str) -> None:
    tuned, plain = world.run(f"drgst-{kind}-tuned", keep="best"), world.run(f"drgst-{kind}")
    assert len(tuned) == len(plain)
    for mine, theirs in zip(tuned.stages, plain.stages, strict=True):
        np.testing.assert_array_equal(mine.logits, theirs.logits)


def test_tuned_reads_the_floor_and_the_scale_of_the_teachers_loss(world: Any) -> None:
    spec = find_recipe("drgst-do-tuned")
    assert spec.make(spec.settings({"floor": "top", "top": 4})).select == Union(Threshold(0.6), TopPerClass(4))
    with pytest.raises(SettingError, match="does not read the setting 'top'"):
        spec.settings({"top": 4})
    scaled = spec.make(spec.settings({"teacher_scale": "1/beta", "beta": 0.25}))
    assert scaled.learner == Network(objective=DividedTeacherLoss(0.25))
    plain, other = (world.run("drgst-do-tuned", teacher_scale=scale, stages=1) for scale in ("1", "1/beta"))
    assert (plain[0].logits != other[0].logits).any()


def test_the_text_of_tuned_names_the_cells() -> None:
    assert f"Tuned at: {tuned_cells('dropout')} labels per class." in find_recipe("drgst-do-tuned").doc


def test_as_released_starts_as_the_published_program() -> None:
    settings = find_recipe("as-released-do").settings()
    assert (settings.start, settings.patience, settings.retries) == ("uniform", 100, 0)
    assert find_recipe("drgst-do").settings().patience == 200


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
