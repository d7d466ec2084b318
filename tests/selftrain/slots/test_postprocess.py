"""Postprocess parts: a calibrator, a stated class prior, and correct-and-smooth by hand."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

import drgst
from drgst.datasets.synthetic import block_model
from drgst.errors import RunError, SettingError
from drgst.graph.core import make_graph
from drgst.graph.split import Split, random_split
from drgst.recipes import find_recipe
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import Recipe, own_state
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.postprocess import ClassPrior, Context, CorrectAndSmooth, corrected
from drgst.transforms.propagate import sym_norm_without_loops
from drgst.transforms.softmax import softmax


@pytest.mark.parametrize("kind", ["temperature", "bias", "mixing", "cagcn"])
def test_a_saved_model_is_calibrated_too(world: Any, kind: str, tmp_path: Path) -> None:
    settings = {"epochs": 20, "hidden": 8, "calibrate": kind}
    model = drgst.SelfTraining("gcn", settings).fit(world.graph, world.split)
    assert 0 < len(own_state(model.model_.state)) < len(model.model_.state)
    model.save(str(tmp_path / "m"))
    loaded = drgst.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict_proba(), model.probabilities_)
    np.testing.assert_allclose(loaded.predict_proba(world.graph), model.probabilities_, atol=1e-6)


def two_pairs() -> Problem:
    """0 - 2 and 1 - 3, 4 alone; 0 and 1 labelled."""
    a = np.zeros((5, 5))
    a[0, 2] = a[1, 3] = 1
    graph = make_graph(None, a, [0, 1, -1, -1, -1])
    return Problem.of(graph, Split.of([0, 1], [], [], 5), Settings())


def test_the_correction_by_hand() -> None:
    """Node 0 is off by (0.4, -0.4), node 1 by 0: σ = 0.4; node 2 is moved by 0.4 · (½, -½), nodes 3 and 4 not."""
    problem = two_pairs()
    p = np.tile([0.6, 0.4], (5, 1))
    p[1] = [0, 1]
    s = sym_norm_without_loops(problem.graph.adjacency).astype(np.float64)
    made = corrected(p, s, np.array([0, 1]), np.eye(2), 0.8)
    np.testing.assert_allclose(made[2] - p[2], [0.2, -0.2])
    np.testing.assert_allclose(made[3:], p[3:])


def test_labels_reach_their_neighbours() -> None:
    """The network says nothing (p = ½): 2 takes after 0, 3 after 1, and 4 stays undecided."""
    problem = two_pairs()
    context = Context(problem, Recipe(), History(), None, self_train)
    p = softmax(CorrectAndSmooth()(np.zeros((5, 2), np.float32), context).logits)
    assert p[2, 0] > 0.6
    assert p[3, 1] > 0.6
    np.testing.assert_allclose(p[4], 0.5)
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_the_test_labels_do_not_matter(world: Any) -> None:
    """Scrambled, they change nothing: only training labels are spread."""
    labels = np.array(world.graph.labels)
    labels[world.split.test] = (labels[world.split.test] + 1) % 3
    other = type(world)(world.graph.with_(labels=labels), world.split)
    one, two = (w.run("gcn", smooth="correct-and-smooth") for w in (world, other))
    np.testing.assert_array_equal(one[-1].postprocessed, two[-1].postprocessed)


GRAPH = block_model(200, 600, seed=0, classes=3, features=20)
SPLIT = random_split(GRAPH, per_class=4, val=20, test=40, seed=0)
REST = np.setdiff1d(np.arange(200), np.union1d(SPLIT.train, SPLIT.val))
SHORT = {"epochs": 5}
PRIOR = {"0": 0.1, "2": 0.6}


@pytest.mark.parametrize("recipe", ["gcn", "label-propagation", "drgst-plus", "drgst-de"])
def test_every_recipe_follows_the_prior(recipe: str, tmp_path: Path) -> None:
    changes = SHORT if "epochs" in find_recipe(recipe).settings().names else {}
    model = drgst.SelfTraining(recipe, changes, prior=PRIOR).fit(GRAPH, SPLIT)
    np.testing.assert_allclose(model.predict_proba()[REST].mean(axis=0), [0.1, 0.3, 0.6], atol=1e-3)
    found = re.search(r"temperature under it (\d\.\d\d)", model.result_.stage.note)
    temperature = float(model.result_.stage.state["postprocess/1/temperature"]) if recipe == "drgst-plus" else 1.0
    assert found
    assert float(found[1]) == pytest.approx(temperature, abs=0.006)
    plain = drgst.SelfTraining(recipe, changes)
    if recipe == "drgst-plus":  # whose pseudo-labels follow the prior, too
        made = find_recipe(recipe).make(find_recipe(recipe).settings({"prior": "0=0.1, 2=0.6"}))
        parts = tuple(part for part in made.postprocess if not isinstance(part, ClassPrior))
        plain = drgst.SelfTraining(made.with_parts(postprocess=parts), {"val_labels": "train"})
    plain.fit(GRAPH, SPLIT)
    shift = model.result_.stage.final_logits - plain.result_.stage.final_logits / temperature
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=1e-4)
    assert "Class prior of the unlabelled nodes: 0 0.1 (without it" in model.result_.stage.note
    model.save(str(tmp_path))
    loaded = drgst.load_model(str(tmp_path))
    assert loaded.settings_.prior == "0=0.1, 2=0.6"
    np.testing.assert_allclose(loaded.predict_proba(GRAPH), model.predict_proba(), atol=1e-5)


def test_a_class_that_does_not_exist_is_refused_before_training() -> None:
    with pytest.raises(SettingError, match="unknown class in the prior"):
        drgst.SelfTraining("gcn", prior={"fraud": 0.1}).fit(GRAPH, SPLIT)


def test_a_run_without_prior_has_no_such_setting() -> None:
    """Keys of stored runs are made of the settings: they stay as they are."""
    assert "prior" not in find_recipe("gcn").settings().names
    assert "prior" in find_recipe("gcn").settings({"prior": "a=0.1"}).names


def test_cross_fitting_is_an_option_of_every_recipe() -> None:
    model = drgst.SelfTraining("gcn", {**SHORT, "calibrate": "crossfit"}).fit(GRAPH, SPLIT)
    result = model.result_
    assert result.out_of_fold.shape == (SPLIT.train.size, 3)
    lines = "".join(result.predictions.csv_pieces()).splitlines()
    assert lines[0] == "id,label,confidence,gain,stage,given,out_of_fold,p:0,p:1,p:2"
    cells = [line.split(",") for line in lines[1:]]
    train = SPLIT.train[0]
    given = GRAPH.labels[train]
    assert cells[train][5] == str(given)
    assert float(cells[train][6]) == pytest.approx(result.out_of_fold[0, given], abs=1e-6)
    assert cells[SPLIT.val[0]][5:7] == [str(GRAPH.labels[SPLIT.val[0]]), ""]
    assert cells[SPLIT.test[0]][5:7] == ["", ""]
    assert sum(float(p) for p in cells[0][7:]) == pytest.approx(1, abs=1e-5)
    plain = drgst.SelfTraining("gcn", SHORT).fit(GRAPH, SPLIT)
    np.testing.assert_array_equal(plain.predict(), model.predict())
    assert plain.result_.out_of_fold is None


def test_one_label_per_class_checks_nothing() -> None:
    graph = drgst.block_model(60, 180, classes=2, features=20, seed=1)
    for count, said in ((1, True), (2, False)):
        train = np.concatenate([np.flatnonzero(graph.labels == c)[:count] for c in (0, 1)])
        known = graph.with_(labels=np.where(np.isin(np.arange(60), train), graph.labels, -1), splits=())
        note = drgst.SelfTraining("drgst-plus", {"stages": 0}).fit(known).result_.stage.note
        assert ("No class has two labels to hold one out: the probabilities are unchecked." in note) is said


def test_a_run_warns_where_labels_are_balanced_and_predictions_are_not(caplog: pytest.LogCaptureFixture) -> None:
    shares = {"0": 0.05, "1": 0.45, "2": 0.5}
    labels = np.random.default_rng(0).choice(3, size=200, p=list(shares.values()))
    features = np.eye(3)[labels] + np.random.default_rng(1).normal(scale=0.05, size=(200, 3))
    graph = drgst.make_graph(features, np.zeros((200, 200)), labels)
    split = random_split(graph, per_class=4, val=0, test=0, seed=0)
    model = drgst.SelfTraining("logistic-ppr").fit(graph, split)
    assert "for class '0'" in model.result_.prior_warning()
    assert "--prior 0=SHARE" in caplog.text
    caplog.clear()
    drgst.SelfTraining("logistic-ppr", prior={"0": 0.05}).fit(graph, split)
    drgst.SelfTraining("gcn", SHORT).fit(GRAPH, SPLIT)
    assert caplog.text == ""


@pytest.mark.parametrize("lost", ["temperature", "shift"])
def test_a_saved_model_without_a_tensor_is_refused(lost: str, tmp_path: Path) -> None:
    """As one that an earlier version of drgst saved."""
    model = drgst.SelfTraining("label-propagation", prior=PRIOR).fit(GRAPH, SPLIT)
    model.save(str(tmp_path))
    path = tmp_path / "model.safetensors"
    tensors = {name: tensor for name, tensor in load_file(path).items() if not name.endswith(f"/{lost}")}
    save_file(tensors, path)
    with pytest.raises(RunError, match=f"the model lacks the tensor '{lost}'"):
        drgst.load_model(str(tmp_path)).predict(GRAPH)
