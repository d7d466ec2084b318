"""DR-GST and its ablations: which parts each names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drgst.recipes import find_recipe
from drgst.selftrain.correct.base import NoCorrection
from drgst.selftrain.correct.carried_transition import CarriedTransition
from drgst.selftrain.correct.transition import Transition
from drgst.selftrain.learners.network import DividedLoss, Network
from drgst.selftrain.select.threshold import Threshold
from drgst.selftrain.weigh.base import Uniform
from drgst.selftrain.weigh.information_gain import InformationGain

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


def test_both() -> None:
    both = find_recipe("drgst-both")
    assert both.settings().gain == "both"
    assert isinstance(both.make(both.settings()).correct, Transition)


def test_as_released_starts_as_the_published_program() -> None:
    settings = find_recipe("as-released-do").settings()
    assert (settings.start, settings.patience, settings.retries) == ("uniform", 100, 0)
    assert find_recipe("drgst-do").settings().patience == 200
