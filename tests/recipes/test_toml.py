"""Recipes of one's own: in Python in a few lines, and from a TOML file; what is wrong in a file is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drgst
from drgst.errors import SettingError
from drgst.graph.core import Graph
from drgst.graph.split import per_class_split
from drgst.recipes import find_recipe, recipe_names, registry
from drgst.recipes.resolve import resolve
from drgst.selftrain.parts import (
    PARTS,
    Accumulate,
    Calibrated,
    Intersection,
    Margin,
    MaxStages,
    NoNewLabels,
    RandomWalk,
    Temperature,
    Threshold,
    Transition,
)

OWN = """
summary = "sure nodes that walks reach too"
[settings]
threshold = 0.45
epochs = 20
hidden = 8
[parts]
weigh = "ClassBalance"
stop = [{ part = "NoNewLabels" }, { part = "MaxStages", stages = "settings.stages" }]
postprocess = [{ part = "Calibrated", calibrate = "Temperature" }]
[parts.select]
part = "Accumulate"
inner = { part = "Intersection", a = { part = "Threshold" }, b = { part = "RandomWalk", top = 5 } }
"""


def file(folder: Path, text: str) -> str:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_parts_and_settings(tmp_path: Path) -> None:
    spec = find_recipe(file(tmp_path, OWN))
    recipe = spec.make(spec.settings({"stages": 2, "threshold": 0.5}))
    assert recipe.select == Accumulate(Intersection(Threshold(0.5), RandomWalk(5)))
    assert recipe.postprocess == (Calibrated(Temperature()),)
    assert recipe.stop == (NoNewLabels(), MaxStages(2))
    assert spec.summary == "sure nodes that walks reach too"


def test_a_file_runs(world: Any, tmp_path: Path) -> None:
    path = file(tmp_path, OWN)
    model = drgst.SelfTraining(path, {"stages": 1}).fit(world.graph, world.split)
    assert model.settings_.hidden == 8
    assert model.probabilities_.shape == (60, 3)
    model.save(str(tmp_path / "m"))
    loaded = drgst.load_model(str(tmp_path / "m"))
    np.testing.assert_allclose(loaded.predict_proba(world.graph), model.probabilities_, atol=1e-6)


def test_a_base_recipe_brings_its_presets_and_version(cora: Graph, tmp_path: Path) -> None:
    """As published for Cora with 20 labels per class, but for what the file says itself."""
    split = per_class_split(cora, 20, 0)
    path = file(tmp_path, 'base = "drgst-de"\n[settings]\nthreshold = 0.7\n')
    own, named = (resolve(name, cora, split, {})[0] for name in (path, "drgst-de"))
    assert (named.threshold, named.beta, named.drop_rate, named.stages) == (0.54, 0.5, 0.4, 4)
    assert own.as_dict() == {**named.as_dict(), "threshold": 0.7}
    plus = find_recipe(file(tmp_path, 'base = "drgst-plus"\n'))
    assert plus.version == find_recipe("drgst-plus").version > 1


def test_a_name_brings_no_presets(cora: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe that is called drgst-… has nothing published; the data set's own normalisation stays."""
    monkeypatch.setattr(registry, "_TABLE", dict(registry._TABLE))
    drgst.recipe("drgst-foo")(find_recipe("drgst-de").build)
    settings, _ = resolve("drgst-foo", cora, per_class_split(cora, 20, 0), {})
    assert (settings.threshold, settings.drop_rate, settings.stages) == (0.6, 0.3, 3)
    assert settings.normalise == "l1"


def test_a_literal_argument_is_no_setting(tmp_path: Path) -> None:
    """What the file fixes can't be set, and says so."""
    spec = find_recipe(file(tmp_path, '[parts]\nselect = { part = "Threshold", threshold = 0.7 }\n'))
    with pytest.raises(SettingError, match="does not read the setting 'threshold'"):
        spec.settings({"threshold": 0.5})
    with pytest.raises(SettingError, match=r"my\.toml: .* does not read the setting 'beta'"):
        find_recipe(file(tmp_path, "[settings]\nbeta = 0.7\n"))


def test_a_base_recipe_with_one_part_changed(tmp_path: Path) -> None:
    spec = find_recipe(file(tmp_path, 'base = "m3s"\n[settings]\nstages = 2\n[parts]\ncorrect = "Transition"\n'))
    recipe = spec.make(spec.settings())
    assert isinstance(recipe.select, Accumulate)
    assert isinstance(recipe.correct, Transition)
    assert spec.settings().stages == 2


WRONG = {
    'base = "m3x"': "unknown recipe 'm3x'; did you mean 'm3s'",
    "bass = 1": "unknown key 'bass'; did you mean 'base'",
    '[parts]\nselekt = "Margin"': "unknown slot 'selekt'; did you mean 'select'",
    '[parts]\nselect = "Tresh"': "unknown select part 'Tresh'; did you mean 'Threshold'",
    '[parts]\nselect = { part = "Margin", topp = 3 }': "unknown argument of Margin 'topp'; did you mean 'top'",
    '[parts]\nselect = { part = "Margin", top = "many" }': "top of Margin is 'many'",
    '[parts]\nselect = { part = "ClusterChecked" }': "ClusterChecked needs inner",
    '[parts]\nselect = { part = "Union", a = "Margin", b = 3 }': "must be the name of a part",
    "[parts]\nselect = 3": "must be the name of a part",
    '[parts]\nweigh = "Threshold"': "unknown weigh part 'Threshold'",
    "[settings]\nthreshhold = 0.5": "unknown setting 'threshhold'; did you mean 'threshold'",
    "[settings]\nthreshold = 5": "setting threshold is 5 (allowed: from 0 to below 1)",
    '[parts]\nselect = { part = "Threshold", threshold = "settings.tau" }': "unknown setting 'tau'",
    "base = 3": "base must be a text",
    "[[[": "is not TOML",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_named_with_the_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingError) as caught:
        find_recipe(file(tmp_path, text))
    assert WRONG[text].lower() in str(caught.value).lower()
    assert "my.toml" in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"none\.toml can't be read"):
        find_recipe(str(tmp_path / "none.toml"))


def test_every_listed_part_can_be_described() -> None:
    for kinds in PARTS.values():
        for name, kind in kinds.items():
            assert kind.__name__ == name
            assert kind.__doc__


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


def test_own_part_is_a_function(world: Any) -> None:
    """Any callable that takes Beliefs and gives a PseudoLabels."""
    from drgst.selftrain.beliefs import Beliefs, PseudoLabels

    def friends_of_the_labelled(beliefs: Beliefs) -> PseudoLabels:
        near = np.unique(beliefs.graph.adjacency[beliefs.split.train].indices)
        nodes = np.intersect1d(near, beliefs.split.pool)
        return PseudoLabels.of(nodes, beliefs.predictions[nodes])

    recipe = drgst.Recipe(select=friends_of_the_labelled, stop=(MaxStages(1),))
    model = drgst.SelfTraining(recipe, {"epochs": 20}).fit(world.graph, world.split)
    assert model.history_[1].pseudo_labels.nodes.size


def test_a_base_that_leads_back_to_the_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text("base = 'own.toml'\n")
    (tmp_path / "a.toml").write_text("base = 'b.toml'\n")
    (tmp_path / "b.toml").write_text("base = 'a.toml'\n")
    for name in ("own.toml", "a.toml"):
        with pytest.raises(SettingError, match="has this file as its own base"):
            find_recipe(name)


def test_deep_brackets_are_not_toml(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="is not TOML"):
        find_recipe(file(tmp_path, "x = " + "[" * 5000))
