"""Cross-fitting: the labels of a fold are hidden, no class changes, and shorter runs agree with longer ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import drgst
from drgst.graph.core import Graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.split import Split
from drgst.graph.splits import random_split
from drgst.graph.transforms.softmax import softmax
from drgst.recipes import find_recipe
from drgst.runs.metrics import calibration_error
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History
from drgst.selftrain.learners.multiview.crossfit import folds
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.postprocess import cross_fitted as module
from drgst.selftrain.postprocess.base import Context
from drgst.selftrain.postprocess.cross_fitted import CrossFitted, fold_problem
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.select.clusters import ClusterChecked
from drgst.selftrain.select.top_share import TopShare
from drgst.selftrain.stop.max_stages import MaxStages
from drgst.uncertainty.temperature import likely_temperature

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


def test_no_class_changes_and_the_temperature_is_kept(fitted: tuple[Graph, drgst.SelfTraining]) -> None:
    graph, model = fitted
    stage = model.history_[-1]
    temperature = float(stage.state[f"{LEARNT}temperature"])
    np.testing.assert_allclose(stage.postprocessed, stage.logits / temperature, rtol=1e-6)
    np.testing.assert_array_equal(stage.predictions, stage.logits.argmax(axis=1))
    correct = stage.state[f"{LEARNT}correct"].tolist()
    shares = [f"{100 * count / 12:.0f}" for count in correct]
    assert len(shares) == 4
    note = f"Out-of-fold accuracy {shares[-1]} % ({correct[-1]} of 12 labels; by stage {', '.join(shares)} %); "
    assert stage.note.endswith(f"{note}temperature {temperature:.2f}.")
    np.testing.assert_allclose(model.predict_proba(graph), model.predict_proba(), atol=1e-6)


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
    problem = Problem.of(graph, split, settings)
    fold = folds(graph.labels[split.train], 3)
    monkeypatch.setattr(module, "folds", lambda _labels, _most: fold)
    labels = problem.graph.labels.copy()
    first = split.train[fold == 0]
    labels[first] = (labels[first] + 1) % 3
    wrong = replace(problem, graph=problem.graph.with_(labels=labels))
    recipe = find_recipe("drgst-plus").make(settings)
    history = self_train(problem, replace(recipe, postprocess=()))
    one, two = (CrossFitted().out_of_fold(context(p, recipe, history))[-1] for p in (problem, wrong))
    np.testing.assert_array_equal(one[fold == 0], two[fold == 0])
    assert not np.array_equal(one[fold != 0], two[fold != 0])


def test_every_stage_is_that_of_a_shorter_run(fitted: tuple[Graph, drgst.SelfTraining]) -> None:
    graph, model = fitted
    problem = Problem.of(graph, model.split_, model.settings_)
    recipe = find_recipe("drgst-plus").make(model.settings_)
    whole, short = (
        CrossFitted().out_of_fold(context(problem, recipe, History(model.history_.stages[:n]))) for n in (4, 2)
    )
    assert (len(whole), len(short)) == (4, 2)
    for one, two in zip(whole[:2], short, strict=True):
        np.testing.assert_array_equal(one, two)
    temperature = likely_temperature(whole[-1], graph.labels[model.split_.train])
    assert np.float32(temperature) == model.history_[-1].state[f"{LEARNT}temperature"].numpy()


def test_nothing_is_done_with_validation_labels_or_one_label_of_a_class() -> None:
    graph, _ = town()
    for split in (random_split(graph, per_class=4, val=60, test=60, seed=0), town(per_class=1)[1]):
        model = drgst.SelfTraining("drgst-plus", {"view": "topology", "stages": 1}).fit(graph, split)
        stage = model.history_[-1]
        assert not any(name.startswith(LEARNT) for name in stage.state)
        np.testing.assert_array_equal(stage.final_logits, stage.logits)
        assert "Out-of-fold accuracy" not in stage.note


def test_the_fold_runs_have_the_recipe_of_the_run() -> None:
    """Another learner and another selector, which uses embeddings."""
    graph, split = town()
    spec = find_recipe("drgst-plus")
    recipe = spec.make(spec.settings())
    other = replace(
        recipe, learner=MultiViewEnsemble("features"), select=ClusterChecked(TopShare()), stop=(MaxStages(2),)
    )
    model = drgst.SelfTraining(other).fit(graph, split)
    problem = Problem.of(graph, split, model.settings_)
    z, plain = (CrossFitted().out_of_fold(context(problem, r, model.history_))[-1] for r in (other, recipe))
    temperature = np.float32(likely_temperature(z, graph.labels[split.train]))
    assert temperature == model.history_[2].state[f"{LEARNT}temperature"].numpy()
    assert not np.array_equal(z, plain)


def test_probabilities_are_better_calibrated() -> None:
    """Log-probabilities of an easy graph that are too flat become sharper, and the calibration error falls."""
    graph = block_model(400, 1600, seed=3, classes=4, features=80, homophily=0.2, signal=0.5)
    split = random_split(graph, per_class=10, val=0, test=200, seed=0)
    model = drgst.SelfTraining("drgst-plus", {"view": "features"}).fit(graph, split)
    stage = model.history_[-1]
    before, after = (
        calibration_error(softmax(z)[split.test], graph.labels[split.test]) for z in (stage.logits, stage.final_logits)
    )
    assert after < before
