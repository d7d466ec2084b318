"""The bench in Python: what it takes, what it gives, what it keeps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_geometric.nn.models import GCN

import drgst
from drgst.errors import SettingError, StoreError
from drgst.graph.core import Graph
from drgst.recipes import recipe_names
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.select import Threshold
from drgst.selftrain.slots.stop import MaxStages

SETTINGS: dict[str, Any] = {"epochs": 15, "samples": 3, "lr": 0.03, "hidden": 8}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return drgst.block_model(90, 250, classes=3, features=30, words=8, signal=0.8, seed=1).with_(name="blocks")


class Net(GCN):
    """A network of one's own, made as PyG's is."""


def confident(settings: Settings) -> Recipe:
    """Plain self-training above a threshold."""
    return Recipe(select=Threshold(settings.threshold), stop=(MaxStages(1),))


@pytest.fixture(scope="module")
def results(graph: Graph) -> drgst.lab.Results:
    recipes = ["gcn", confident, Recipe(select=Threshold(0.4), stop=(MaxStages(1),)), Net]
    return drgst.lab.bench([graph], recipes, [2, 4], draws=3, settings=SETTINGS, jobs=1)


def test_names_functions_recipes_and_modules(results: drgst.lab.Results) -> None:
    assert results.failures == ()
    assert repr(results) == "Results(24 runs in 8 cells)"
    frame = results.to_frame()
    assert list(frame["recipe"].unique()) == ["gcn", "confident", "own", "Net"]
    assert set(frame["dataset"]) == {"blocks"}
    assert sorted(frame["draw"].unique()) == [0, 1, 2]
    assert (frame.groupby("recipe")["test_accuracy"].mean() > 0.6).all()
    assert frame.groupby("recipe")["stages"].max().to_dict() == {"gcn": 0, "confident": 1, "own": 1, "Net": 0}
    assert "confident" not in recipe_names(), "own recipes are known during the bench alone"


def test_a_dict_may_name_recipes_of_drgst_as_they_are(graph: Graph) -> None:
    recipes = {"gcn": "gcn", "base": "gcn", "mine": confident}
    found = drgst.lab.bench(graph, recipes, 3, draws=1, settings=SETTINGS, jobs=1).to_frame().set_index("recipe")
    assert list(found.index) == ["gcn", "base", "mine"]
    assert found.loc["gcn", "test_accuracy"] == found.loc["base", "test_accuracy"]


def test_tables_show_what_was_run(results: drgst.lab.Results) -> None:
    for how in ("markdown", "latex", "html", "text"):
        text = results.table(how)
        assert "confident" in text
        assert "drgst-de" not in text
        assert "public split" not in text
        assert "paper" not in text
    assert "\\toprule" in results.table("latex")
    assert results._repr_html_().count("<table") == 1
    with pytest.raises(SettingError, match="unknown format 'latx'; did you mean 'latex'"):
        results.table("latx")


def test_recipes_are_compared_on_the_same_draws(results: drgst.lab.Results) -> None:
    frame = results.compare("confident", "gcn")
    assert list(frame["per_class"]) == [2, 4]
    runs = results.to_frame().set_index(["per_class", "recipe", "draw"])["test_accuracy"]
    difference = (runs[2, "confident"] - runs[2, "gcn"]).mean()
    assert frame.loc[0, "mean"] == pytest.approx(difference, abs=1e-6)
    with pytest.raises(SettingError, match="unknown recipe of the bench 'gnc'"):
        results.compare("gnc", "gcn")


def test_the_figure_has_every_recipe(results: drgst.lab.Results) -> None:
    figure = results.plot()
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert sorted(labels) == ["GCN", "Net", "confident", "own"]


def test_a_store_keeps_the_runs(graph: Graph, tmp_path: Path) -> None:
    """The same bench makes no run again; another function of the same name does."""
    options: dict[str, Any] = {"draws": 2, "settings": SETTINGS, "jobs": 1, "store": tmp_path / "runs.db"}
    first = drgst.lab.bench(graph, ["gcn", confident], 3, **options)
    second = drgst.lab.bench(graph, ["gcn", confident], 3, **options)
    assert [row["created"] for row in second.rows] == [row["created"] for row in first.rows]
    assert second.to_frame().equals(first.to_frame())

    def confident_now(settings: Settings) -> Recipe:
        return Recipe(select=Threshold(settings.threshold / 2), stop=(MaxStages(1),))

    changed = drgst.lab.bench(graph, {"confident": confident_now}, 3, **options)
    assert len(changed) == 2
    keys = {row["key"] for row in first.rows}
    assert not keys & {row["key"] for row in changed.rows}


def test_estimators_and_processes(graph: Graph) -> None:
    """Recipes of this process reach the workers, which give the same figures as this process."""
    model = drgst.SelfTraining("self-training", {"epochs": 15}, backbone=lambda f, c: GCN(f, 8, 2, c, dropout=0.5))
    figures = [
        drgst.lab.bench(graph, {"mine": model}, 3, draws=2, jobs=jobs).to_frame()["test_accuracy"].to_numpy()
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*figures)


def test_what_is_no_recipe_is_refused(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="a recipe is 7"):
        drgst.lab.bench(graph, [7], 3, draws=1)
    with pytest.raises(SettingError, match="already exists; give yours another name"):
        drgst.lab.bench(graph, {"gcn": confident}, 3, draws=1)
    (tmp_path / "no.db").write_text("text")
    with pytest.raises(StoreError):
        drgst.lab.bench(graph, "gcn", 3, draws=1, store=tmp_path / "no.db")


def test_a_graph_of_pyg_is_a_data_set(graph: Graph) -> None:
    found = [
        drgst.lab.bench(data, ["logistic"], 3, draws=2, jobs=1).to_frame()["test_accuracy"].tolist()
        for data in (graph, drgst.to_pyg(graph), [drgst.to_pyg(graph)])
    ]
    assert found[0] == found[1] == found[2]


def test_an_editor_shows_the_signature() -> None:
    jedi = pytest.importorskip("jedi")
    (found,) = jedi.Script("import drgst\ndrgst.lab.bench(").get_signatures(2, 16)
    assert [parameter.name for parameter in found.params][:4] == ["datasets", "recipes", "labels_per_class", "draws"]
