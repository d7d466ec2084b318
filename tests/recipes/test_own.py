"""Recipes of one's own, in Python in a few lines; a file is refused."""

from __future__ import annotations

from typing import Any

import pytest

import drgst
from drgst.errors import SettingError
from drgst.graph.core import Graph
from drgst.graph.split import per_class_split
from drgst.recipes import find_recipe, recipe_names, registry
from drgst.recipes.registry import resolve
from drgst.selftrain.parts import Intersection, Margin, MaxStages, NoNewLabels, RandomWalk


def test_a_name_brings_no_presets(cora: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe that is called drgst-… has nothing published; the data set's own normalisation stays."""
    monkeypatch.setattr(registry, "_TABLE", dict(registry._TABLE))
    drgst.recipe("drgst-foo")(find_recipe("drgst-de").build)
    settings, _ = resolve("drgst-foo", cora, per_class_split(cora, 20, 0), {})
    assert (settings.threshold, settings.drop_rate, settings.stages) == (0.6, 0.3, 3)
    assert settings.normalise == "l1"


def test_own_recipe_in_python(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of docs/recipes.md; the table is put back, as other tests walk through it."""
    monkeypatch.setattr(registry, "_TABLE", dict(registry._TABLE))

    @drgst.recipe("sure-and-near", "margin and walks agree", stages=2, epochs=20)
    def sure_and_near(settings: Any) -> drgst.Recipe:
        select = Intersection(Margin(top=10), RandomWalk(top=10))
        return drgst.Recipe(select=select, stop=(NoNewLabels(), MaxStages(settings.stages)))

    assert "sure-and-near" in recipe_names()
    model = drgst.SelfTraining("sure-and-near", {"stages": 1}).fit(world.graph, world.split)
    assert model.predict().shape == (60,)


def test_a_file_is_refused() -> None:
    with pytest.raises(SettingError, match="is a TOML file; write a Python function instead"):
        find_recipe("my.toml")
