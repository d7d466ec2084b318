"""The table of recipes: what must be in it, which parts each names, and what a typo is told."""

from __future__ import annotations

import pytest

from drgst.errors import SettingError
from drgst.recipes import find_recipe, recipe, recipe_names
from drgst.selftrain.correct.parts import CarriedTransition, NoCorrection, Transition
from drgst.selftrain.select.threshold import Threshold
from drgst.selftrain.weigh.information_gain import InformationGain, Uniform

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
    settings = spec.settings({"threshold": 0.7, "beta": "1/4"})
    made = spec.make(settings)
    weigh, correct = PARTS[pattern]
    assert isinstance(made.weigh, weigh)
    assert isinstance(made.correct, correct)
    assert made.select == Threshold(0.7)
    assert settings.gain == gain
    assert made.uses_gain == (weigh is InformationGain)
    if weigh is InformationGain:
        assert made.weigh.beta == 0.25
        assert made.weigh.over_true == pattern.startswith("as-released")
    assert made.same_start == pattern.startswith("as-released")


def test_both_and_gcn() -> None:
    both = find_recipe("drgst-both")
    assert both.settings().gain == "both"
    assert isinstance(both.make(both.settings()).correct, Transition)
    alone = find_recipe("gcn")
    assert alone.settings().stages == 0


def test_as_released_starts_as_the_published_program() -> None:
    settings = find_recipe("as-released-do").settings()
    assert (settings.start, settings.patience) == ("uniform", 100)
    assert find_recipe("drgst-do").settings().patience == 200


@pytest.mark.parametrize(
    ("typo", "near"), [("drgst-dee", "drgst-de"), ("DRGST-DO", "drgst-do"), ("drgst-bth", "drgst-both")]
)
def test_a_typo_is_answered_with_the_nearest(typo: str, near: str) -> None:
    with pytest.raises(SettingError, match=f"unknown recipe '{typo}'; did you mean '{near}'"):
        find_recipe(typo)


def test_a_name_is_entered_once() -> None:
    with pytest.raises(SettingError, match="'gcn' exists already"):
        recipe("gcn", "another", "nobody")(lambda _: None)


def test_every_recipe_can_be_made_and_described() -> None:
    """Each has a line, a paper and an equation or choice to show, and parts in words."""
    for name in recipe_names():
        spec = find_recipe(name)
        assert spec.summary
        assert spec.paper
        assert spec.doc
        shown = spec.make(spec.settings()).parts()
        assert set(shown) >= {"select", "weigh", "correct", "stop", "learner"}
        assert all(shown.values())


def test_later_changes_win() -> None:
    settings = find_recipe("drgst-de").settings({"beta": 1, "stages": 4}, {"beta": 2})
    assert (settings.beta, settings.stages) == (2, 4)
