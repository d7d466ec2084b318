"""DR-GST and its ablations: which parts each names."""

from __future__ import annotations

import pytest

from drgst.recipes import find_recipe
from drgst.selftrain.correct.base import NoCorrection
from drgst.selftrain.correct.carried_transition import CarriedTransition
from drgst.selftrain.correct.transition import Transition
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
        assert made.weigh.beta == 0.25
        assert made.weigh.over_true == pattern.startswith("as-released")
    assert made.learner.same_start == pattern.startswith("as-released")


def test_both() -> None:
    both = find_recipe("drgst-both")
    assert both.settings().gain == "both"
    assert isinstance(both.make(both.settings()).correct, Transition)


def test_as_released_starts_as_the_published_program() -> None:
    settings = find_recipe("as-released-do").settings()
    assert (settings.start, settings.patience) == ("uniform", 100)
    assert find_recipe("drgst-do").settings().patience == 200
