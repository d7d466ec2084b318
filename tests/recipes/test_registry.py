"""The table of recipes: what must be in it, what each reads, typos, and recipes of one's own."""

from typing import Any

import pytest

import drgst
from drgst.errors import SettingError
from drgst.graph.core import Graph
from drgst.graph.split import per_class_split
from drgst.recipes import find_recipe, recipe, recipe_names, registry
from drgst.recipes.registry import resolve
from drgst.selftrain.parts import Intersection, Margin, MaxStages, NoNewLabels, RandomWalk
from drgst.selftrain.settings import Settings


@pytest.mark.parametrize(
    ("typo", "near"), [("drgst-dee", "drgst-de"), ("DRGST-DO", "drgst-do"), ("drgst-bth", "drgst-both")]
)
def test_a_typo_is_answered_with_the_nearest(typo: str, near: str) -> None:
    with pytest.raises(SettingError, match=f"unknown recipe '{typo}'; did you mean '{near}'"):
        find_recipe(typo)


def test_a_name_is_entered_once() -> None:
    with pytest.raises(SettingError, match="'gcn' already exists"):
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


class Recorder:
    """Settings that record which of them are read."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.names = settings, set()

    def __getattr__(self, name: str) -> Any:
        value = getattr(type(self.settings), name, None)
        if callable(value):  # schedule and gain_settings read through this object
            return lambda: value(self)
        self.names.add(name)
        return getattr(self.settings, name)


@pytest.mark.parametrize("name", recipe_names())
def test_a_run_reads_no_setting_that_its_recipe_does_not_declare(world: Any, name: str) -> None:
    """Neither while the parts are made nor while they run; and its own defaults are among them."""
    spec = find_recipe(name)
    problem = world.problem(name, **({"epochs": 3} if "epochs" in spec.settings().names else {}))
    recorder = Recorder(problem.settings)
    object.__setattr__(problem, "settings", recorder)
    drgst.selftrain.engine.self_train(problem, spec.make(recorder))
    unused = {"samples", "estimator", "keep", "on_collapse", "retries", "prior"}  # read, but without effect
    assert recorder.names - unused <= set(spec.settings().names)
    assert set(spec.defaults) <= set(spec.settings().names)


def test_what_is_not_read_is_refused() -> None:
    with pytest.raises(SettingError, match="recipe drgst-plus does not read the setting 'epochs'"):
        find_recipe("drgst-plus").settings({"epochs": 5})
    with pytest.raises(SettingError, match="recipe gcn does not read the setting 'stages'"):
        find_recipe("gcn").settings({"stages": 5})
    with pytest.raises(SettingError, match="recipe drgst-de-lc does not read the setting 'beta'"):
        find_recipe("drgst-de-lc").settings({"beta": 0.5})


def test_every_parameter_of_the_estimator_is_read() -> None:
    for gain in ("dropout", "dropedge", "both"):
        model = drgst.DRGST(gain=gain)
        names = find_recipe(model.recipe).settings({"prior": "a=0.1"}).names
        assert set(model.get_params()) - {"seed"} <= set(names)


def test_presets_then_defaults_then_changes(cora: Any) -> None:
    """GAT has its own learning rate; what the user says wins."""
    split = cora.split
    assert resolve("gcn", cora, split, {})[0].normalise == "l1"
    assert resolve("gat", cora, split, {})[0].lr == find_recipe("gat").defaults["lr"] != Settings().lr
    assert resolve("gat", cora, split, {"lr": 0.3})[0].lr == 0.3


def test_a_recipe_of_ones_own_parts(world: Any) -> None:
    """It reads what its parts declare, and has no presets."""
    recipe = drgst.Recipe()
    settings, parts = resolve(recipe, world.graph, world.split, {"calibrate": "temperature", "lr": 0.2})
    assert len(parts.postprocess) == 1
    assert settings.lr == 0.2
    with pytest.raises(SettingError, match="recipe own does not read the setting 'threshold'"):
        resolve(recipe, world.graph, world.split, {"threshold": 0.2})


def test_a_name_brings_no_presets(cora: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recipe that is called drgst-… has nothing published; the data set's own normalisation stays."""
    monkeypatch.setattr(registry, "_TABLE", dict(registry._TABLE))
    drgst.recipe("drgst-foo")(find_recipe("drgst-de").build)
    settings, _ = resolve("drgst-foo", cora, per_class_split(cora, 20, 0), {})
    assert (settings.threshold, settings.drop_rate, settings.stages) == (0.6, 0.3, 3)
    assert settings.normalise == "l1"


def test_own_recipe_in_python(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of docs/methods/recipes.md; the table is put back, as other tests walk through it."""
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
