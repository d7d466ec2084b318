"""The Python API: scikit-learn's conventions, PyG's data, models in folders."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from torch import nn
from torch_geometric.data import Data

import drgst
from drgst.errors import DrgstError, GraphError, RunError, SettingError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split
from drgst.io.pyg import to_pyg
from drgst.nn.networks import Backbone
from drgst.nn.ops.adjacency import Adjacency
from drgst.selftrain.learners.network import Network
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.slots.select import Threshold
from drgst.selftrain.slots.stop import MaxStages
from drgst.selftrain.slots.weigh import InformationGain

QUICK = {"epochs": 25, "hidden": 8, "samples": 4, "stages": 1, "lr": 0.03}
OWN = {name: value for name, value in QUICK.items() if name != "stages"}  # a recipe of one's own has its stop parts


def blocks(nodes: int = 48, seed: int = 0) -> Graph:
    """Three groups with noisy features; the split takes the first nine as training nodes."""
    rng = np.random.default_rng(seed)
    y = np.arange(nodes) % 3
    a = np.triu(rng.random((nodes, nodes)) < np.where(y[:, None] == y[None], 0.25, 0.02), 1).astype(float)
    x = np.hstack([np.eye(3)[y] + rng.normal(scale=0.5, size=(nodes, 3)), rng.normal(size=(nodes, 2))])
    split = Split.of(np.arange(9), np.arange(9, 21), np.arange(21, min(33, nodes)), nodes)
    return make_graph(x, a + a.T, y, class_names=["ant", "bee", "cat"], splits=[split])


@pytest.fixture(scope="module")
def graph() -> Graph:
    return blocks()


@pytest.fixture(scope="module")
def model(graph: Graph) -> drgst.DRGST:
    return drgst.DRGST(gain="dropedge", beta=1 / 3, threshold=0.4, **QUICK).fit(graph, graph.split)


def test_fitted_attributes(model: drgst.DRGST, graph: Graph) -> None:
    assert model.probabilities_.shape == (48, 3)
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1)
    assert model.gain_.shape == (48,)
    assert model.transition_.shape == (3, 3)
    assert model.stop_reason_ == model.history_.stop_reason != ""
    assert list(model.classes_) == ["ant", "bee", "cat"]
    assert (model.labeled_stage_[graph.split.train] == 0).all()
    assert set(model.labeled_stage_[graph.split.pool]) <= {-1, 1}
    assert (model.labeled_stage_[graph.split.test] == -1).all()
    np.testing.assert_array_equal(model.predict(), model.classes_[model.predict_proba().argmax(axis=1)])
    assert model.score(graph, graph.split.test) > 0.7


def test_settings_given_win_over_published_ones(cora: Graph) -> None:
    """None takes what is published for Cora's 20 labels per class; what the user gives stays."""
    fitted = drgst.DRGST(gain="dropedge", threshold=0.9, epochs=1, stages=0, samples=1).fit(cora)
    s = fitted.settings_
    assert (s.threshold, s.stages) == (0.9, 0)
    assert (s.beta, s.drop_rate, s.normalise, s.weight_decay) == (0.5, 0.4, "l1", 5e-4)
    do = drgst.DRGST(gain="dropout", epochs=1, stages=0, samples=1).fit(cora).settings_
    assert (do.threshold, do.beta, do.drop_rate) == (0.53, pytest.approx(1 / 3), 0.5)


def test_sklearn_clone_get_and_set_params(model: drgst.DRGST, graph: Graph) -> None:
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "probabilities_")
    np.testing.assert_array_equal(again.fit(graph).probabilities_, model.probabilities_)
    again.set_params(gain="dropout", beta=1.0)
    assert (again.recipe, again.beta) == ("drgst-do", 1.0)
    with pytest.raises(ValueError, match="treshold"):
        again.set_params(treshold=0.5)


def test_constructor_only_stores() -> None:
    """Nothing is checked before fit, as scikit-learn wants it; fit then names the value."""
    wrong = drgst.DRGST(threshold=7)
    with pytest.raises(SettingError, match="setting threshold is 7"):
        wrong.fit(blocks())
    with pytest.raises(SettingError, match="gain is edges"):
        drgst.DRGST(gain="edges").fit(blocks())
    with pytest.raises(SettingError, match="did you mean 'drgst-de'"):
        drgst.SelfTraining("drgst-dee").fit(blocks())
    with pytest.raises(SettingError, match="did you mean 'gcn'"):
        drgst.DRGST(backbone="gcnn").fit(blocks())


def test_fit_on_pyg_data_equals_fit_on_the_graph(model: drgst.DRGST, graph: Graph) -> None:
    data = to_pyg(graph)
    assert isinstance(data, Data)
    again = clone(model).fit(data)
    np.testing.assert_array_equal(again.probabilities_, model.probabilities_)


def test_score_is_that_of_the_graph_that_is_given(model: drgst.DRGST, graph: Graph) -> None:
    """Of another graph its own predictions; masks, indices and PyG data alike."""
    other = blocks(30, seed=9)
    nodes = np.arange(10, 30)
    expected = (model.predict(other)[nodes] == model.classes_[other.labels[nodes]]).mean()
    mask = np.isin(np.arange(30), nodes)
    data = to_pyg(other)
    for scored in (
        model.score(other, nodes),
        model.score(other, mask),
        model.score(data, torch.from_numpy(mask)),
        model.score(other.with_(class_names=("ant", "bee", "cat")), nodes.tolist()),
    ):
        assert scored == pytest.approx(expected)
    fitted = (model.predict() == model.classes_[graph.labels])[graph.split.test].mean()
    assert fitted != pytest.approx(expected)
    assert model.score() == model.score(graph) == model.score(graph, graph.split.test) == pytest.approx(fitted)
    assert model.score(other.with_(splits=())) == pytest.approx(
        (model.predict(other) == model.classes_[other.labels]).mean()
    )
    with pytest.raises(GraphError, match=r"the mask has shape \(3,\), but the graph has 30 nodes"):
        model.score(other, [True, False, True])
    with pytest.raises(GraphError, match="indices from 0 to 29"):
        model.score(other, [30])
    with pytest.raises(GraphError, match=r"a class of the model \(its classes: ant, bee, cat\)"):
        model.score(other.with_(class_names=("x", "y", "z")), nodes)


def test_classes_of_another_graph_are_matched_by_name(model: drgst.DRGST) -> None:
    other = blocks(30, seed=9)
    turned = other.with_(labels=2 - other.labels, class_names=("cat", "bee", "ant"))
    assert model.score(turned, np.arange(30)) == model.score(other, np.arange(30))


def test_without_a_split_every_labelled_node_trains(graph: Graph) -> None:
    labels = np.where(np.arange(48) < 12, graph.labels, -1)
    bare = graph.with_(labels=labels, splits=())
    fitted = drgst.DRGST(**QUICK).fit(bare)
    np.testing.assert_array_equal(fitted.split_.train, np.arange(12))
    assert fitted.split_.val.size == fitted.split_.test.size == 0
    with pytest.raises(DrgstError, match=r"every node of .* is labelled"):
        drgst.DRGST(**QUICK).fit(graph.with_(splits=()))


def test_predict_on_a_new_graph_needs_no_labels(model: drgst.DRGST) -> None:
    """The usual case: new nodes whose classes nobody knows, as a Graph or as PyG data without y."""
    other = blocks(30, seed=9)
    known = model.predict_proba(other)
    bare = other.with_(labels=np.full(30, -1))
    np.testing.assert_array_equal(model.predict_proba(bare), known)
    data = to_pyg(other)
    unlabelled = Data(x=data.x, edge_index=data.edge_index)
    np.testing.assert_array_equal(model.predict_proba(unlabelled), known)


def test_predict_refuses_other_features(model: drgst.DRGST, graph: Graph) -> None:
    wide = graph.with_(features=np.ones((48, 9), dtype=np.float32))
    with pytest.raises(GraphError, match="has 9 features, the model was fitted on 5"):
        model.predict(wide)


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "save"])
def test_not_fitted(ask: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="this DRGST is not fitted yet") as raised:
        getattr(drgst.DRGST(), ask)(*([str(tmp_path)] if ask == "save" else []))
    assert isinstance(raised.value, NotFittedError)


def test_save_and_load(model: drgst.DRGST, graph: Graph, tmp_path: Path) -> None:
    """Two files, safetensors and JSON; the loaded model predicts the same here and on a new graph, bit-identical."""
    model.save(str(tmp_path / "m"))
    assert {p.suffix for p in (tmp_path / "m").iterdir()} == {".safetensors", ".json"}
    loaded = drgst.load_model(str(tmp_path / "m"))
    for name in ("probabilities_", "gain_", "transition_", "labeled_stage_", "classes_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name), err_msg=name)
    other = blocks(24, seed=3)
    np.testing.assert_array_equal(loaded.predict_proba(other), model.predict_proba(other))
    assert loaded.settings_ == model.settings_
    assert loaded.stop_reason_ == model.stop_reason_


def test_save_and_load_of_a_recipe_of_ones_own_with_a_named_network(graph: Graph, tmp_path: Path) -> None:
    """The network's name is kept with the model, wherever it was given."""
    recipe = Recipe(select=Threshold(0.5), stop=(MaxStages(1),), learner=Network("appnp"))
    fitted = drgst.SelfTraining(recipe, settings=OWN).fit(graph)
    fitted.save(str(tmp_path / "m"))
    loaded = drgst.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict_proba(graph), fitted.predict_proba(graph))


@pytest.mark.parametrize(
    "changes",
    [
        *("[]", "{", "\xff"),  # no facts at all
        {"format": 99},
        {"recipe": "drgst-xx"},
        {"num_features": 6},
        {"class_names": ["ant", "bee"]},
        {"settings": {"treshold": 0.5}},
        {"settings": {"hidden": 9}},
    ],
    ids=str,
)
def test_edited_facts_are_refused(model: drgst.DRGST, tmp_path: Path, changes: Any) -> None:
    model.save(str(tmp_path / "m"))
    path = tmp_path / "m" / "model.json"
    if isinstance(changes, dict):
        given = changes.get("settings")
        if isinstance(given, dict) and set(given) <= {"hidden", "backbone"}:
            changes = {"settings": {**model.settings_.as_dict(), **given}}
        changes = json.dumps({**json.loads(path.read_text()), **changes})
    path.write_bytes(changes.encode("latin-1"))
    with pytest.raises(RunError, match="is not a usable model"):
        drgst.load_model(str(tmp_path / "m"))


@pytest.mark.parametrize("what", ["missing weight", "strange weight", "other shape", "no arrays"])
def test_edited_weights_are_refused(model: drgst.DRGST, tmp_path: Path, what: str) -> None:
    model.save(str(tmp_path / "m"))
    tensors = load_file(tmp_path / "m" / "model.safetensors")
    if what in ("missing weight", "no arrays"):
        del tensors["state.weight1" if what == "missing weight" else "fitted.probabilities"]
    else:
        tensors["state.extra" if what == "strange weight" else "state.weight2"] = torch.zeros(8, 4)
    save_file(tensors, tmp_path / "m" / "model.safetensors")
    with pytest.raises(RunError, match="is not a usable model"):
        drgst.load_model(str(tmp_path / "m"))


class Own(Backbone):
    """A user's own network: two plain layers over neighbours' sums, with torch's own dropout."""

    random_hidden = True

    def __init__(self, features: int, classes: int) -> None:
        super().__init__(0.0)
        self.first, self.last = nn.Linear(features, 6), nn.Linear(6, classes)
        self.dropped = nn.Dropout(0.2)

    def hidden(self, x: torch.Tensor, adj: Adjacency) -> torch.Tensor:
        return self.dropped((adj.sym @ self.first(x)).relu())

    def head(self, h: torch.Tensor, adj: Adjacency) -> torch.Tensor:
        return adj.sym @ self.last(h)


def test_a_users_own_network_in_the_loop(graph: Graph, tmp_path: Path) -> None:
    """A subclass of Backbone: it learns, repeats bit for bit, predicts elsewhere, is saved and loaded."""
    learner = Network(backbone=Own)
    recipe = Recipe(select=Threshold(0.4), weigh=InformationGain(0.5), stop=(MaxStages(1),), learner=learner)
    settings = {"epochs": 60, "samples": 4, "lr": 0.03}
    fitted = drgst.SelfTraining(recipe, settings=settings, seed=2).fit(graph)
    assert len(fitted.history_) == 2
    assert fitted.score(graph, graph.split.test) > 0.7
    assert (fitted.gain_ > 0).any()
    again = drgst.SelfTraining(recipe, settings=settings, seed=2).fit(graph)
    np.testing.assert_array_equal(again.probabilities_, fitted.probabilities_)
    np.testing.assert_allclose(fitted.predict_proba(graph), fitted.probabilities_, atol=1e-6)
    fitted.save(str(tmp_path / "m"))
    loaded = drgst.load_model(str(tmp_path / "m"), backbone=Own)
    np.testing.assert_allclose(loaded.predict_proba(graph), fitted.probabilities_, atol=1e-6)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None])
def test_a_seed_is_a_whole_number(graph: Graph, seed: object) -> None:
    with pytest.raises(SettingError, match="seed"):
        drgst.DRGST(seed=seed, **QUICK).fit(graph)
