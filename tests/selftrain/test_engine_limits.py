"""The smallest and the oddest graphs a run must survive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.recipes import find_recipe
from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.engine import self_train

RECIPES = ["drgst-do", "drgst-de", "drgst-both", "drgst-de-wo", "as-released-de", "gcn"]
NONE = np.empty(0, dtype=np.int64)


@pytest.mark.parametrize("name", RECIPES)
def test_two_nodes_one_edge(world, name: str) -> None:
    """Both are training nodes, the pool is empty: the teacher alone, and a reason. (𝔑(A) mixes the two completely,
    so they get the same class, and the note says so.)"""
    graph = make_graph(np.eye(2), [[0, 1], [1, 0]], [0, 1])
    done = type(world)(graph, Split.of([0, 1], NONE, NONE, 2)).run(name)
    assert len(done) == 1
    assert done.stop_reason in ("no unlabelled node is pseudo-labelled", "all 0 stages are done")
    assert np.isfinite(done[0].logits).all()
    assert "same class" in done[0].note


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("estimator", ["sampled", "closed"])
def test_no_edges_at_all(world, name: str, estimator: str) -> None:
    """Every node is isolated: dropedge has nothing to drop, so all its gains are zero and weights stay finite."""
    empty = make_graph(world.graph.features, np.zeros((60, 60)), world.graph.labels)
    done = replace(world, graph=empty).run(name, **({"estimator": estimator} if name == "drgst-de" else {}))
    for stage in done.stages:
        assert np.isfinite(stage.logits).all()
        assert np.isfinite(stage.weights).all()
        assert np.isfinite(stage.all_gain).all()
    if name == "drgst-de":
        np.testing.assert_allclose(done[-1].all_gain, 0, atol=1e-6)


def test_some_isolated_nodes(world) -> None:
    """Cut off every fifth node: still finite, and they may be pseudo-labelled by their features."""
    a = world.graph.adjacency.toarray()
    a[::5] = a[:, ::5] = 0
    done = replace(world, graph=make_graph(world.graph.features, a, world.graph.labels)).run(threshold=0.35)
    assert np.isfinite(done[-1].logits).all()
    assert np.isin(np.arange(0, 60, 5), done[1].pseudo_labels.nodes).any()


@pytest.mark.parametrize("name", ["drgst-do", "drgst-de"])
def test_one_label_a_class(worlds, name: str) -> None:
    done = worlds(per_class=1).run(name)
    assert len(done) > 1
    assert np.isfinite(done[-1].transition).all()


def test_drop_rate_zero_all_gains_zero(world) -> None:
    """No noise, no gain: every pseudo-labelled node counts 1/β and the run goes on."""
    done = world.run("drgst-do", drop_rate=0.0, beta=0.5)
    np.testing.assert_array_equal(done[0].all_gain, 0)
    np.testing.assert_array_equal(done[1].weights, 2.0)
    assert np.isfinite(done[-1].logits).all()


def test_with_gains_of_zero_the_weighted_run_is_the_unweighted_one_at_beta_one(world) -> None:
    """B̄ = 1/β = 1: drgst-de is then drgst-de-lc, bit for bit."""
    a, b = world.run("drgst-de", drop_rate=0.0, beta=1.0), world.run("drgst-de-lc", drop_rate=0.0)
    np.testing.assert_array_equal(a[-1].logits, b[-1].logits)


def test_a_class_that_is_never_predicted(world) -> None:
    """Pseudo-labels of two classes alone: T still has a row for the third, learnt from its true labels."""
    seen = []

    def without_last(beliefs):  # type: ignore[no-untyped-def]
        pool = beliefs.split.pool[beliefs.predictions[beliefs.split.pool] != 2]
        seen.append(pool.size)
        return PseudoLabels.of(pool, beliefs.predictions[pool])

    problem = world.problem()
    recipe = replace(find_recipe("drgst-de").make(problem.settings), select=without_last)
    done = self_train(problem, recipe)
    assert seen[0] > 0
    assert (done[1].pseudo_labels.labels != 2).all()
    assert np.isfinite(done[-1].transition).all()
    assert len(done) == 3


def test_teacher_that_never_predicts_a_class(worlds) -> None:
    """Three epochs: some class is hardly predicted yet; nothing breaks."""
    done = worlds(classes=6, per_class=1).run(epochs=3, threshold=0.0)
    assert np.isfinite(done[-1].logits).all()
    assert done[0].logits.shape == (60, 6)


@pytest.mark.parametrize("fixed", [15, None])
def test_without_a_validation_set(world, fixed: int | None) -> None:
    """Fixed epochs, or until predictions settle; validation figures are unknown and the result is the last stage."""
    alone = replace(world, split=world.split.without_validation())
    done = alone.run(fixed_epochs=fixed, epochs=300, samples=2, stages=1)
    assert len(done) > 1
    assert all(np.isnan(s.val_loss) for s in done.stages)
    reasons = {t.reason for s in done.stages for t in s.trainings}
    assert reasons == {"15 epochs done"} if fixed else "predictions settled" in reasons
    assert done[-1].pseudo_labels.nodes.size > 0


def test_without_validation_former_validation_labels_do_not_matter(world, same) -> None:
    alone = replace(world, split=world.split.without_validation())
    labels = world.graph.labels.copy()
    labels[world.split.val] = 0
    lied = replace(alone, graph=world.graph.with_(labels=labels))
    same(lied.run(fixed_epochs=8), alone.run(fixed_epochs=8))


def test_no_features(world) -> None:
    """X of width 0: without structural features nothing but biases can be learnt; a note says so."""
    bare = make_graph(None, world.graph.adjacency, world.graph.labels)
    done = replace(world, graph=bare).run(normalise="none")
    assert "collapsed" in done.stop_reason or "same class" in done[0].note or "never fell" in done[0].note
