"""The class prior of pseudo-labels."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from drgst import SelfTraining
from drgst.datasets.synthetic import block_model
from drgst.graph.split import random_split
from drgst.recipes import find_recipe
from drgst.selftrain.views import prior as module
from drgst.selftrain.views.ensemble import MultiViewEnsemble
from drgst.selftrain.views.prior import expected_prior, match_prior, prior_shift, stated_prior
from drgst.transforms.softmax import log_softmax


def random_log_p(rng: np.random.Generator, nodes: int, classes: int, tilt: float = 0.0) -> np.ndarray:
    return log_softmax(rng.normal(size=(nodes, classes)) + tilt * np.arange(classes))


def test_the_expected_prior_lies_between_argmax_and_mean() -> None:
    """Of four nodes three go to class 0, and one more is counted of each class; p gives it 0.55 on average."""
    p = np.array([[0.6, 0.4], [0.6, 0.4], [0.6, 0.4], [0.4, 0.6]])
    a, b = np.sqrt(4 / 4 * 0.55), np.sqrt(2 / 4 * 0.45)
    np.testing.assert_allclose(expected_prior(np.log(p)), [a / (a + b), b / (a + b)])


def test_a_class_that_no_node_is_given_keeps_a_share() -> None:
    found = expected_prior(np.log(np.tile([0.6, 0.39, 0.01], (1_000, 1))))
    assert 0 < found[2] < 0.01
    assert found.sum() == pytest.approx(1)


def test_a_stated_share_leaves_the_others_in_proportion() -> None:
    expected = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(stated_prior(expected, np.array([np.nan, 0.1, np.nan])), [0.9 * 5 / 7, 0.1, 0.9 * 2 / 7])
    every = np.array([0.2, 0.2, 0.6])
    np.testing.assert_array_equal(stated_prior(expected, every), every)


def test_stated_shares_take_the_place_of_expected_ones() -> None:
    log_q, stated = random_log_p(np.random.default_rng(4), 2_000, 3, 1.0), np.array([0.6, 0.3, 0.1])
    nodes = np.arange(2_000)
    free, found = match_prior(log_q, log_q, nodes), match_prior(log_q, log_q, nodes, stated)
    np.testing.assert_allclose(np.bincount(found.argmax(axis=1)) / 2_000, stated, atol=0.02)
    assert np.bincount(free.argmax(axis=1)).argmax() == 2


def test_a_stated_prior_makes_better_pseudo_labels() -> None:
    """Labels in equal numbers do not show that a class is six times as large as another; a stated prior does."""
    graph = block_model(600, 1_500, seed=3, classes=3, homophily=0.55, signal=0.3, imbalance=6.0)
    split = random_split(graph, per_class=3, val=0, test=0, seed=1)
    rest = np.setdiff1d(np.arange(600), split.train)
    counts = np.bincount(graph.labels[rest], minlength=3) / rest.size
    shares = dict(zip(graph.class_names, counts.tolist(), strict=True))
    learner = MultiViewEnsemble(prior=", ".join(f"{name}={share:.12g}" for name, share in shares.items()))
    right = []
    for own in (MultiViewEnsemble(), learner):
        recipe = find_recipe("drgst-plus").make(find_recipe("drgst-plus").settings({}))
        recipe = recipe.with_parts(learner=own, postprocess=())
        p = SelfTraining(recipe).fit(graph, split).predict_proba(graph)
        right.append(float((p.argmax(axis=1) == graph.labels)[rest].mean()))
    assert right[1] > right[0] + 0.02


@pytest.mark.parametrize("tilt", [0.0, 0.3, 1.0])
def test_shares_of_argmax_come_near_the_target(tilt: float) -> None:
    log_q = random_log_p(np.random.default_rng(3), 5_000, 4, tilt)
    target = np.array([0.4, 0.3, 0.2, 0.1])
    moved = log_q + prior_shift(log_q, target)
    np.testing.assert_allclose(np.bincount(moved.argmax(axis=1), minlength=4) / 5_000, target, atol=0.02)


def test_a_shift_has_mean_0_and_undoes_a_shift() -> None:
    """What was added to the columns before makes no difference to the result."""
    log_q = random_log_p(np.random.default_rng(4), 500, 3)
    target = np.array([0.5, 0.3, 0.2])
    b = prior_shift(log_q, target)
    again = prior_shift(log_q + np.array([0.4, -0.1, -0.3]), target)
    assert b.mean() == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(again + np.array([0.4, -0.1, -0.3]), b, atol=1e-3)


def test_oversmoothed_probabilities_get_their_prior_back() -> None:
    """Smoothing that leaves 2 % of each node's own and adds 0.02 to one class gives it all nodes."""
    rng = np.random.default_rng(5)
    log_p = random_log_p(rng, 2_000, 3)
    oversmoothed = np.log(0.98 / 3 + 0.02 * np.exp(log_p) + np.array([0.02, 0, 0]))
    assert np.bincount(oversmoothed.argmax(axis=1), minlength=3)[0] > 1_900
    back = match_prior(oversmoothed, log_p, np.arange(2_000))
    assert (back.argmax(axis=1) == log_p.argmax(axis=1)).mean() > 0.9


def test_only_the_given_nodes_count_and_all_are_shifted() -> None:
    log_q = random_log_p(np.random.default_rng(6), 400, 3)
    nodes = np.arange(0, 400, 2)
    one = match_prior(log_q, log_q, nodes)
    other = log_q.copy()
    other[1::2] = other[1::2, ::-1]
    two = match_prior(other, other, nodes)
    np.testing.assert_array_equal(one[nodes], two[nodes])
    assert np.abs(one - log_q).max() > 0
    np.testing.assert_allclose(np.exp(one).sum(axis=1), 1)


def test_many_nodes_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    log_q = random_log_p(np.random.default_rng(7), 1_000, 3, 0.5)
    whole = match_prior(log_q, log_q, np.arange(1_000))
    monkeypatch.setattr(module, "SAMPLED_NODES", 300)
    part = match_prior(log_q, log_q, np.arange(1_000))
    np.testing.assert_array_equal(part, match_prior(log_q, log_q, np.arange(0, 1_000, 4)))
    assert 0 < np.abs(whole - part).max() < 0.2


def test_no_nodes_no_change() -> None:
    log_q = random_log_p(np.random.default_rng(8), 5, 3)
    np.testing.assert_array_equal(match_prior(log_q, log_q, np.empty(0, dtype=np.int64)), log_q)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 6)), elements=st.floats(-30, 30)),
    st.integers(0, 100),
)
def test_any_logits_give_finite_probabilities(z: np.ndarray, seed: int) -> None:
    """One node, one class, equal rows, certain rows: rows always sum to 1, the order of nodes within a class stays."""
    log_p = np.maximum(log_softmax(z), np.log(1e-12))
    nodes = np.random.default_rng(seed).permutation(z.shape[0])
    found = match_prior(log_p, log_p, nodes)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1)
    gap = (found - log_p) - (found - log_p)[:1]
    assert np.ptp(gap - gap[:, :1], axis=0) == pytest.approx(0, abs=1e-9)


def test_self_training_does_not_give_all_nodes_to_one_class() -> None:
    """Middling edges and features: smoothed probabilities lean to one class, and students follow."""
    held, free = [], []
    for seed in range(300, 304):
        graph = block_model(800, 4_000, seed=seed, classes=2, homophily=0.65, signal=0.35)
        split = random_split(graph, per_class=10, seed=0, val=0, test=0)
        rest = np.setdiff1d(np.arange(800), split.train)
        for found, align_prior in ((held, True), (free, False)):
            found.append(_accuracies(graph, split, rest, MultiViewEnsemble("topology", align_prior=align_prior)))
    (first, *_, last), (*_, drifted) = np.mean(held, axis=0), np.mean(free, axis=0)
    assert last > first + 0.05
    assert drifted < last - 0.1


def _accuracies(graph: Any, split: Any, rest: np.ndarray, learner: MultiViewEnsemble) -> list[float]:
    spec = find_recipe("drgst-plus")
    model = SelfTraining(replace(spec.make(spec.settings()), learner=learner), seed=0).fit(graph, split)
    return [float((s.logits[rest].argmax(axis=1) == graph.labels[rest]).mean()) for s in model.history_]
