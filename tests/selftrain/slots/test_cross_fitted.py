"""Cross-fitting: the labels of a fold are hidden, fold runs are averaged, and probabilities are calibrated."""

from dataclasses import replace

import numpy as np
import pytest

import drgst
from drgst.datasets.synthetic import block_model
from drgst.graph.core import Graph
from drgst.graph.split import Split, random_split
from drgst.recipes import find_recipe
from drgst.runs.metrics import ClassScores
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.slots import postprocess as module
from drgst.selftrain.slots.postprocess import Context, CrossFitted, evidence, fold_problem
from drgst.selftrain.views.ensemble import MultiViewEnsemble
from drgst.selftrain.views.stacking import folds
from drgst.transforms.softmax import softmax

LEARNT = "postprocess/0/"


def town(per_class: int = 4) -> tuple[Graph, Split]:
    """400 nodes of 3 classes that are hard to separate, none of them for validation."""
    graph = block_model(400, 1200, seed=2, classes=3, features=60, homophily=0.6, signal=0.25)
    return graph, random_split(graph, per_class=per_class, val=0, test=100, seed=0)


def context(problem: Problem, recipe: AnyRecipe, history: History) -> Context:
    """Of the last stage of a history."""
    return Context(problem, recipe, history, history[-1], lambda p, r, history=None: self_train(p, r, history=history))


@pytest.fixture(scope="module")
def fitted() -> tuple[Graph, drgst.SelfTraining]:
    graph, split = town()
    return graph, drgst.SelfTraining("drgst-plus", {"view": "topology"}).fit(graph, split)


def test_the_average_the_temperature_and_the_note(fitted: tuple[Graph, drgst.SelfTraining]) -> None:
    graph, model = fitted
    stage = model.history_[-1]
    temperature = float(stage.state[f"{LEARNT}temperature"])
    assert stage.postprocessed is not None
    assert not np.allclose(stage.postprocessed, stage.logits / temperature, atol=1e-3), "fold runs are averaged"
    correct = stage.state[f"{LEARNT}correct"].tolist()
    shares = [f"{100 * count / 12:.0f}" for count in correct]
    assert len(shares) == 6
    note = f"Out-of-fold accuracy {shares[-1]} % ({correct[-1]} of 12 labels; by stage {', '.join(shares)} %); "
    assert stage.note.endswith(f"{note}temperature {temperature:.2f}.")
    np.testing.assert_allclose(model.predict_proba(graph), model.predict_proba(), atol=1e-4)


def test_the_average_by_hand(fitted: tuple[Graph, drgst.SelfTraining]) -> None:
    """With n labels per class, fold runs have n / (n + 10) of it; z and every W and b alike."""
    _, model = fitted
    last, before = model.history_[-1], model.history_[-2]
    problem, recipe = model.result_.run.problem, model.result_.run.recipe
    z, state = CrossFitted().average(context(problem, recipe, model.history_), [before, before])
    a = 4 / 14
    np.testing.assert_allclose(softmax(z), softmax((1 - a) * last.final_logits + a * before.final_logits), atol=1e-5)
    name = next(name for name in state if name.endswith(".weight"))
    np.testing.assert_allclose(state[name], (1 - a) * last.state[name] + a * before.state[name], atol=1e-6)


def test_the_loop_does_not_depend_on_it(fitted: tuple[Graph, drgst.SelfTraining]) -> None:
    """Without the part: bit-identical pseudo-labels, weights and logits."""
    graph, model = fitted
    spec = find_recipe("drgst-plus")
    bare = replace(spec.make(spec.settings({"view": "topology"})), postprocess=())
    other = drgst.SelfTraining(bare).fit(graph, model.split_)
    for one, two in zip(model.history_.stages, other.history_.stages, strict=True):
        np.testing.assert_array_equal(one.logits, two.logits)
        np.testing.assert_array_equal(one.pseudo_labels.nodes, two.pseudo_labels.nodes)
        np.testing.assert_array_equal(one.weights, two.weights)


def test_all_labels_of_a_fold_are_hidden() -> None:
    graph, split = town()
    problem = Problem.of(graph, split, find_recipe("drgst-plus").settings())
    fold = folds(graph.labels[split.train], 3)
    assert np.bincount(fold).size == 3
    for number in range(3):
        known = fold_problem(problem, fold == number)
        hidden = split.train[fold == number]
        assert (known.graph.labels[hidden] == -1).all()
        np.testing.assert_array_equal(known.split.train, split.train[fold != number])
        np.testing.assert_array_equal(known.split.pool, np.union1d(split.pool, hidden))
        assert (known.graph.labels >= 0).sum() == known.split.train.size
        assert known.graph_cache is problem.graph_cache, "views are made once"
        assert known.cache is not problem.cache, "a choice by other labels is not reused"


def test_out_of_fold_logits_do_not_depend_on_the_label_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, split = town()
    settings = find_recipe("drgst-plus").settings({"view": "topology", "stages": 2})
    problem = Problem.of(graph, split.with_validation_as_training(), settings)
    fold = folds(graph.labels[split.train], 3)
    monkeypatch.setattr(module, "folds", lambda _labels, _number: fold)
    labels = problem.graph.labels.copy()
    first = split.train[fold == 0]
    labels[first] = (labels[first] + 1) % 3
    wrong = replace(problem, graph=problem.graph.with_(labels=labels))
    weights = (("topology", 0.6), ("hops", 0.4))
    recipe = find_recipe("drgst-plus").make(settings).with_parts(learner=MultiViewEnsemble(weights=weights))
    history = self_train(problem, recipe.with_parts(postprocess=()))
    one, two = (
        CrossFitted(least=-np.inf)(
            history[-1].logits, context(p, recipe.with_parts(postprocess=()), history)
        ).out_of_fold
        for p in (problem, wrong)
    )
    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(one[fold == 0].argmax(axis=1), two[fold == 0].argmax(axis=1))
    assert np.abs(one[fold != 0] - two[fold != 0]).max() > 0.1


def test_nothing_is_done_with_held_out_validation_labels_or_one_label_of_every_class() -> None:
    graph, _ = town()
    held_out = random_split(graph, per_class=4, val=60, test=60, seed=0)
    for split, changes in ((held_out, {"val_labels": "hold-out"}), (town(per_class=1)[1], {})):
        model = drgst.SelfTraining("drgst-plus", {"view": "topology", "stages": 1, **changes}).fit(graph, split)
        stage = model.history_[-1]
        assert not any(name.startswith(LEARNT) for name in stage.state)
        np.testing.assert_array_equal(stage.final_logits, stage.logits)
        assert "Out-of-fold accuracy" not in stage.note


def test_a_class_with_one_label_is_in_every_fold_run() -> None:
    graph, split = town()
    labels = graph.labels[split.train]
    rare = split.train[labels == 0][1:]
    few = replace(split, train=np.setdiff1d(split.train, rare), pool=np.union1d(split.pool, rare))
    model = drgst.SelfTraining("drgst-plus", {"view": "topology", "stages": 1}).fit(graph, few)
    stage = model.history_[-1]
    assert int(stage.state[f"{LEARNT}labels"]) == 8
    assert stage.out_of_fold is not None
    single = graph.labels[few.train] == 0
    assert np.isnan(stage.out_of_fold[single]).all()
    assert np.isfinite(stage.out_of_fold[~single]).all()


def test_probabilities_are_better_calibrated() -> None:
    """Log-probabilities of an easy graph that are too flat become sharper, and the calibration error falls."""
    graph = block_model(400, 1600, seed=3, classes=4, features=80, homophily=0.2, signal=0.5)
    split = random_split(graph, per_class=10, val=0, test=200, seed=0)
    model = drgst.SelfTraining("drgst-plus", {"view": "features"}).fit(graph, split)
    stage = model.history_[-1]
    before, after = (
        ClassScores(softmax(z)[split.test], graph.labels[split.test]).ece() for z in (stage.logits, stage.final_logits)
    )
    assert after < before


def test_the_result_is_the_teacher_where_held_out_labels_tell_against_self_training() -> None:
    """Edges across classes: the logits and the saved W are averages of teachers."""
    graph = block_model(300, 900, seed=0, classes=4, features=60, homophily=0.1, signal=0.1)
    split = random_split(graph, per_class=12, val=0, test=0, seed=0)
    spec = find_recipe("drgst-plus")
    recipe = spec.make(spec.settings({"view": "topology"}))
    problem = Problem.of(graph, split, spec.settings())
    history = self_train(problem, recipe)
    result = history[-1]
    assert "so the result is the teacher" in result.note
    teacher = MultiViewEnsemble("topology").predict(result.state, graph, spec.settings())
    temperature = result.state[f"{LEARNT}temperature"]
    np.testing.assert_allclose(softmax(result.final_logits), softmax(teacher / temperature), atol=1e-4)
    assert result.state[f"{LEARNT}correct"].shape == (1,)
    near, far = (np.abs(teacher - history[k].logits).mean() for k in (0, -1))
    assert near < far


def test_the_note_says_where_held_out_labels_are_predicted_no_better_than_by_chance() -> None:
    """Classes that neither edges nor features know."""
    graph = block_model(200, 600, seed=0, classes=2, features=40, homophily=0.5, signal=0.0)
    found = set()
    for seed in range(4):
        split = random_split(graph, per_class=3, val=0, test=0, seed=seed)
        stage = drgst.SelfTraining("drgst-plus", {"view": "topology", "stages": 1}).fit(graph, split).history_[-1]
        warned = "no better than chance" in stage.note
        assert warned == (stage.state[f"{LEARNT}correct"][-1] <= 3)
        found.add(warned)
    assert found == {True, False}


def test_which_stage_is_kept() -> None:
    """(n E₀ + 4) / (n + 4) < ¼ and E < E₀."""
    labels = np.arange(60) % 2
    sure, guess = 6.0 * np.eye(2)[labels], np.zeros((60, 2))
    wrong = np.where(np.arange(60)[:, None] < 20, sure[:, ::-1], guess)
    part = CrossFitted()
    assert evidence(sure, labels) > 0.9
    assert evidence(guess, labels) == pytest.approx(0)
    assert part.kept(np.stack([guess, wrong]), labels)[0] == 0
    assert part.kept(np.stack([guess, sure]), labels) == (-1, "")
    assert part.kept(np.stack([sure, guess]), labels) == (-1, "")
    assert part.kept(np.stack([guess, wrong])[:, :6], labels[:6]) == (-1, ""), "six labels are too few to tell"
