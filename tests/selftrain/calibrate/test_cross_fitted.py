"""Confidence without validation labels: a fold stays unseen, no class changes, a fresh start has the same bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import drgst
from drgst.graph.core import Graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.split import Split, random_split
from drgst.recipes import find_recipe
from drgst.runs.metrics import calibration_error
from drgst.selftrain.beliefs import softmax
from drgst.selftrain.calibrate import cross_fitted as heldout
from drgst.selftrain.calibrate.cross_fitted import CrossFitted, Rehearsals
from drgst.selftrain.calibrate.cross_fitted import fold_problem as lesson_of
from drgst.selftrain.learners.multiview.crossfit import folds
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.problem import Problem
from drgst.selftrain.select.clusters import ClusterChecked
from drgst.selftrain.select.top_share import TopShare
from drgst.selftrain.stop.max_stages import MaxStages
from drgst.uncertainty.calibration import fit_temperature, fit_temperature_with_prior, log_loss


def town(per_class: int = 4) -> tuple[Graph, Split]:
    """400 nodes of 3 classes that are hard to tell apart, none of them for validation."""
    graph = block_model(400, 1200, seed=2, classes=3, features=60, homophily=0.6, signal=0.25)
    return graph, random_split(graph, per_class=per_class, val=0, test=100, seed=0)


@pytest.fixture(scope="module")
def fitted() -> tuple[Graph, drgst.SelfTraining]:
    graph, split = town()
    return graph, drgst.SelfTraining("drgst-plus", {"view": "topology"}).fit(graph, split)


def test_no_class_changes_and_the_temperature_is_kept(fitted: tuple[Graph, drgst.SelfTraining]) -> None:
    graph, model = fitted
    stage = model.history_[-1]
    temperature = float(stage.state["postprocess/0/temperature"])
    np.testing.assert_allclose(stage.postprocessed, stage.logits / temperature, rtol=1e-6)
    np.testing.assert_array_equal(stage.predictions, stage.logits.argmax(axis=1))
    found = int(stage.state["postprocess/0/found"])
    words = f"Left out, {found} of 12 known labels were found again; temperature {temperature:.2f}."
    assert stage.note.endswith(words)
    assert all(before.postprocessed is None for before in model.history_.stages[:-1])
    np.testing.assert_allclose(model.predict_proba(graph), model.predict_proba(), atol=1e-6)


def test_the_loop_does_not_see_it(fitted: tuple[Graph, drgst.SelfTraining]) -> None:
    """Without the part: the same pseudo-labels, weights and logits, to the bit."""
    graph, model = fitted
    spec = find_recipe("drgst-plus")
    bare = replace(spec.make(spec.settings({"view": "topology"})), postprocess=())
    other = drgst.SelfTraining(bare, {"keep": "best-student"}).fit(graph, model.split_)
    for one, two in zip(model.history_.stages, other.history_.stages, strict=True):
        np.testing.assert_array_equal(one.logits, two.logits)
        np.testing.assert_array_equal(one.pseudo_labels.nodes, two.pseudo_labels.nodes)
        np.testing.assert_array_equal(one.weights, two.weights)


def test_a_fold_is_hidden_whole() -> None:
    graph, split = town()
    problem = Problem.of(graph, split, find_recipe("drgst-plus").settings())
    fold = folds(graph.labels[split.train], 3)
    assert np.bincount(fold).size == 3
    for number in range(3):
        fold_problem = lesson_of(problem, fold, number)
        hidden = split.train[fold == number]
        assert (fold_problem.graph.labels[hidden] == -1).all()
        np.testing.assert_array_equal(fold_problem.split.train, split.train[fold != number])
        np.testing.assert_array_equal(fold_problem.split.pool, np.union1d(split.pool, hidden))
        assert (fold_problem.graph.labels >= 0).sum() == fold_problem.split.train.size
        assert fold_problem.graph.features is problem.graph.features


def test_what_is_foretold_of_a_node_does_not_hang_on_its_label(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, split = town()
    settings = find_recipe("drgst-plus").settings({"view": "topology"})
    problem = Problem.of(graph, split, settings)
    fold = folds(graph.labels[split.train], 3)
    monkeypatch.setattr(heldout, "folds", lambda labels, most: fold)  # noqa: ARG005
    labels = problem.graph.labels.copy()
    first = split.train[fold == 0]
    labels[first] = (labels[first] + 1) % 3
    lied = Problem(problem.graph.with_(labels=labels), split, settings)
    spec = find_recipe("drgst-plus")
    part = CrossFitted().bound(spec.make(settings))
    true, wrong = (Rehearsals().best_log_probs(p, part, 2) for p in (problem, lied))
    np.testing.assert_array_equal(true[fold == 0], wrong[fold == 0])
    assert not np.array_equal(true[fold != 0], wrong[fold != 0])


def test_a_fresh_start_at_any_stage_has_the_same_bits(fitted: tuple[Graph, drgst.SelfTraining]) -> None:
    """As after an interruption: nothing was kept of the stages before."""
    graph, model = fitted
    problem = Problem.of(graph, model.split_, model.settings_)
    spec = find_recipe("drgst-plus")
    recipe = spec.make(model.settings_)
    part = CrossFitted().bound(recipe)
    heldout.REHEARSALS.forget()
    part.fit(model.history_[1].logits, problem, 1)
    learnt = part.fit(model.history_[3].logits, problem, 3)  # goes on from the first stage
    assert learnt is not None
    assert float(learnt["temperature"]) == float(model.history_[3].state["postprocess/0/temperature"])


def test_nothing_is_done_where_validation_labels_tell_more_or_a_class_has_one_label() -> None:
    graph, _ = town()
    for split in (random_split(graph, per_class=4, val=60, test=60, seed=0), town(per_class=1)[1]):
        model = drgst.SelfTraining("drgst-plus", {"view": "topology", "stages": 1}).fit(graph, split)
        assert not any(name.startswith("postprocess/") for name in model.model_.state)
        assert all(stage.final_logits is stage.logits for stage in model.history_.stages)


def test_the_loop_that_runs_is_the_loop_that_is_rehearsed() -> None:
    """Another learner and another selector, which reads embeddings: no leftovers of the recipe it was made from."""
    graph, split = town()
    spec = find_recipe("drgst-plus")
    recipe = spec.make(spec.settings())
    other = replace(
        recipe, learner=MultiViewEnsemble("features"), select=ClusterChecked(TopShare()), stop=(MaxStages(2),)
    )
    model = drgst.SelfTraining(other).fit(graph, split)
    problem = Problem.of(graph, split, model.settings_)
    heldout.REHEARSALS.forget()
    part = CrossFitted().bound(other)
    z = Rehearsals().best_log_probs(problem, part, 2)
    assert fit_temperature_with_prior(z, graph.labels[split.train]) == pytest.approx(
        float(model.history_[2].state["postprocess/0/temperature"]), rel=1e-6
    )
    theirs = Rehearsals().best_log_probs(problem, CrossFitted().bound(recipe), 2)
    assert not np.array_equal(z, theirs)


def test_another_part_for_the_same_problem_starts_anew() -> None:
    graph, split = town()
    spec = find_recipe("drgst-plus")
    problem = Problem.of(graph, split, spec.settings())
    one, two = (
        CrossFitted().bound(replace(spec.make(spec.settings()), learner=MultiViewEnsemble(v)))
        for v in ("features", "hops")
    )
    kept = Rehearsals()
    kept.best_log_probs(problem, one, 1)
    np.testing.assert_array_equal(kept.best_log_probs(problem, two, 2), Rehearsals().best_log_probs(problem, two, 2))


def test_confidence_is_more_honest() -> None:
    """Flat beliefs of a graph that is easy become surer, and come nearer to how often they are right."""
    graph = block_model(400, 1600, seed=3, classes=4, features=80, homophily=0.2, signal=0.5)
    split = random_split(graph, per_class=10, val=0, test=200, seed=0)
    model = drgst.SelfTraining("drgst-plus", {"view": "features"}).fit(graph, split)
    stage = model.history_[-1]
    before, after = (
        calibration_error(softmax(z)[split.test], graph.labels[split.test]) for z in (stage.logits, stage.final_logits)
    )
    assert after < before


def test_a_likely_temperature_is_1_without_evidence_and_the_best_one_with_much() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20_000, 3)) * 2
    p = softmax(z)
    labels = np.minimum((p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1), 2)
    assert fit_temperature_with_prior(3 * z, labels) == pytest.approx(fit_temperature(3 * z, labels), rel=1e-3)
    assert fit_temperature_with_prior(np.zeros((5, 3)), labels[:5]) == pytest.approx(1, abs=1e-3)
    right = z[:10].argmax(axis=1)
    assert 0.2 < fit_temperature_with_prior(z[:10], right) < 1
    assert fit_temperature(z[:10], right) < 0.03, "ten labels that are all right would make every node certain"


def test_a_second_valley_far_from_1_is_found() -> None:
    """Very flat logits of many classes, nearly all right: the loss falls again towards T = 0.02."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(12, 40)) * 0.01
    right = z.argmax(axis=1)
    grid = np.linspace(np.log(0.02), np.log(50), 2_000)
    losses = [12 * log_loss(z / np.exp(t), right) + t * t / (2 * 0.49) for t in grid]
    assert np.log(fit_temperature_with_prior(z, right)) == pytest.approx(grid[int(np.argmin(losses))], abs=0.01)
