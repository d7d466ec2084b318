"""The ensemble: by hand, bit-identical again, one graph only, and the logits that selection goes by."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from drgst.errors import GraphError
from drgst.graph.core import make_graph
from drgst.graph.datasets.synthetic import block_model
from drgst.graph.splits import random_split
from drgst.graph.transforms.normalise import sym_norm
from drgst.graph.transforms.softmax import softmax
from drgst.nn.losses import CorrectedCrossEntropy, NodeLoss, cross_entropy
from drgst.selftrain.learners.base import Trained
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble, disagreement, scale_l2, subsample
from drgst.selftrain.learners.multiview.prior import match_prior
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.uncertainty.temperature import log_loss


def trained(
    problem: Problem, view: str = "topology", loss: NodeLoss = cross_entropy, *, align_prior: bool = True
) -> Trained:
    """An ensemble fitted to the training labels."""
    nodes = problem.split.train
    targets = Targets(nodes, problem.graph.labels[nodes], np.ones(nodes.size), nodes.size)
    return MultiViewEnsemble(view, align_prior=align_prior).train(problem, targets, loss, (0,), None)


def test_equal_classifiers_do_not_disagree() -> None:
    log_p = np.log(softmax(np.random.default_rng(0).normal(size=(8, 3))))
    np.testing.assert_allclose(disagreement([[log_p, log_p, log_p]], np.ones((1, 1))), 0, atol=1e-6)
    np.testing.assert_allclose(disagreement([[log_p], [log_p]], np.full((2, 8), 0.5)), 0, atol=1e-6)


def test_disagreement_by_hand() -> None:
    """Two classifiers that are certain of different classes differ by log 2, two uniform ones by nothing."""
    tiny = 1e-9
    one = np.log(np.array([[1 - tiny, tiny], [0.5, 0.5], [0.8, 0.2]]))
    two = np.log(np.array([[tiny, 1 - tiny], [0.5, 0.5], [0.4, 0.6]]))
    mixed = -(0.6 * np.log(0.6) + 0.4 * np.log(0.4))
    own = -(0.8 * np.log(0.8) + 0.2 * np.log(0.2) + 0.4 * np.log(0.4) + 0.6 * np.log(0.6)) / 2
    np.testing.assert_allclose(disagreement([[one, two]], np.ones((1, 1))), [np.log(2), 0, mixed - own], atol=1e-6)
    halves = disagreement([[one], [two]], np.full((2, 3), 0.5))
    np.testing.assert_allclose(halves, [np.log(2), 0, mixed - own], atol=1e-6)
    alone = disagreement([[one], [two]], np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]))
    np.testing.assert_allclose(alone, 0, atol=1e-6)


def test_views_count_by_their_weights() -> None:
    """log p = Σ_g s_g L_g: at an isolated node both count the same, at one of high degree topology nearly alone."""
    graph = block_model(100, 300, seed=0, classes=3, features=60)
    problem = Problem.of(graph, random_split(graph, per_class=5, val=0, test=20, seed=0), Settings())
    both, topology, knn = (trained(problem, view).logits for view in ("topology+knn", "topology", "knn"))
    weight = 1 / (1 + np.diff(graph.adjacency.indptr)[:, None])
    np.testing.assert_allclose(both, (topology + weight * knn) / (1 + weight), atol=1e-4)
    all_, hops, structure = (trained(problem, view).logits for view in ("knn+hops+structure", "hops", "structure"))
    np.testing.assert_allclose(all_, (4 * knn + 2 * hops + structure) / 7, atol=1e-4)


@pytest.mark.parametrize("view", get_args(get_type_hints(Settings)["view"]))
def test_every_view_is_bit_identical_again_and_when_predicted(world: Any, view: str) -> None:
    problem = world.problem("drgst-plus")
    one, two = trained(problem, view), trained(problem, view)
    np.testing.assert_array_equal(one.logits, two.logits)
    again = MultiViewEnsemble(view).predict(one.state, world.graph, problem.settings)
    np.testing.assert_array_equal(again, one.logits)
    gain = one.gain(np.random.default_rng(0), True)
    assert gain.shape == (60,)
    assert (gain >= 0).all()
    assert one.logits.dtype == np.float32
    assert (softmax(one.logits[:9]).argmax(axis=1) == world.graph.labels[:9]).all()


def test_classifiers_of_different_representations_differ(world: Any) -> None:
    gain = trained(world.problem("drgst-plus")).gain(np.random.default_rng(0), True)
    assert gain.max() > 0.01


def test_selection_logits_are_p_smoothed_over_the_edges_of_the_view(world: Any) -> None:
    """G⁰ = p, five times G ← 0.2 p + 0.8 Â G; rows sum to 1."""
    result = trained(world.problem("drgst-plus"), align_prior=False)
    assert result.selection_logits is not None
    p = softmax(result.logits)
    s = sym_norm(world.graph.adjacency).toarray()
    g = p
    for _ in range(5):
        g = 0.2 * p + 0.8 * (s @ g)
    np.testing.assert_allclose(np.exp(result.selection_logits), g / g.sum(axis=1, keepdims=True), atol=1e-5)


@pytest.mark.parametrize("view", ["features", "hops", "structure"])
def test_no_edges_no_smoothing(world: Any, view: str) -> None:
    problem = world.problem("drgst-plus")
    assert trained(problem, view, align_prior=False).selection_logits is None
    held = trained(problem, view)
    assert held.selection_logits is not None
    shift = held.selection_logits - held.logits  # the prior is matched by one shift for all nodes
    np.testing.assert_allclose(shift - shift[:, :1], np.tile((shift - shift[:, :1])[0], (shift.shape[0], 1)), atol=1e-4)


def test_selection_logits_have_the_prior_that_p_expects(world: Any) -> None:
    """Counted on the pool, which alone is given pseudo-labels."""
    problem = world.problem("drgst-plus")
    loose, held = trained(problem, align_prior=False), trained(problem)
    assert loose.selection_logits is not None
    assert held.selection_logits is not None
    expected = match_prior(loose.selection_logits.astype(np.float64), held.logits, problem.split.pool)
    np.testing.assert_allclose(held.selection_logits, expected, atol=1e-4)


def test_the_loss_reaches_the_classifiers(world: Any) -> None:
    problem = world.problem("drgst-plus")
    transition = torch.tensor([[0.6, 0.4, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    corrected = trained(problem, loss=CorrectedCrossEntropy(transition))
    assert np.abs(corrected.logits - trained(problem).logits).max() > 0.1


def test_weights_reach_the_classifiers(world: Any) -> None:
    """A wrong label of weight 0 is as good as absent."""
    problem = world.problem("drgst-plus")
    labels = world.graph.labels
    some = Targets(np.arange(9), labels[:9], np.ones(9), 9)
    wrong = np.append(labels[:9], (labels[9] + 1) % 3)
    absent = Targets(np.arange(10), wrong, np.append(np.ones(9), 0.0), 9)
    present = Targets(np.arange(10), wrong, np.ones(10), 9)
    one, two, three = (
        MultiViewEnsemble("topology").train(problem, t, cross_entropy, (0,), None).logits
        for t in (some, absent, present)
    )
    np.testing.assert_allclose(softmax(one), softmax(two), atol=1e-2)
    assert np.abs(one - three).max() > 0.1


def test_another_graph_is_refused(world: Any, worlds: Any) -> None:
    state = trained(world.problem("drgst-plus")).state
    fewer = world.graph.adjacency.toarray()
    fewer[0], fewer[:, 0] = 0, 0
    for graph in (worlds(nodes=90).graph, world.graph.with_(adjacency=sp.csr_array(fewer))):
        with pytest.raises(GraphError, match="only on the graph it was fitted on, with 60 nodes and 142 edges"):
            MultiViewEnsemble().predict(state, graph, Settings())


def test_neither_edges_nor_features(world: Any) -> None:
    graph = make_graph(None, sp.csr_array((60, 60)), world.graph.labels)
    with pytest.raises(GraphError, match="neither edges nor features"):
        trained(Problem.of(graph, world.split, Settings()))


def test_the_note_and_the_embedding(world: Any) -> None:
    result = trained(world.problem("drgst-plus"), "hops")
    assert re.fullmatch(
        r"View hops: as set\. Features are numeric, so they are rank-normalised\. "
        r"Set by validation labels: l2 (0\.0003|0\.003|0\.03)\.",
        result.note,
    )
    assert result.embedding.shape[0] == 60
    assert result.embedding.shape[1] <= 64


def shifted(world: Any) -> Problem:
    """Half of all validation labels of class 0 are class 1: another prior than that of the training labels."""
    problem = world.problem("drgst-plus")
    labels = problem.graph.labels.copy()
    val = problem.split.val
    zeros = val[labels[val] == 0]
    labels[zeros[::2]] = 1
    return Problem(problem.graph.with_(labels=labels), problem.split, problem.settings)


def test_validation_labels_set_scale_and_shift(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """log p = log softmax(a mean log p + b), likelier on validation nodes than without; predicted again as well."""
    problem = shifted(world)
    nodes, val = problem.split.train, problem.split.val
    targets = Targets(nodes, problem.graph.labels[nodes], np.ones(nodes.size), nodes.size)

    def trained_with(view: str, calibrated: bool) -> Trained:
        learner = MultiViewEnsemble(view, l2=(3e-3,), calibrated=calibrated)
        return learner.train(problem, targets, cross_entropy, (0,), None)

    assert "scale" not in trained_with("topology", True).state, "fewer than ten validation labels per class"
    monkeypatch.setattr("drgst.selftrain.learners.multiview.ensemble.SCALE_LABELS", 1)
    with_, without = trained_with("topology", True), trained_with("topology", False)
    assert "scale" not in without.state
    assert without.note.endswith("Set by validation labels: l2 0.003.")
    shift = with_.state["shift"].numpy()
    scale = with_.state["scale"].item()
    assert f", scale of topology {scale:.1f}, shift of log p from {shift.min():+.1f} (class " in with_.note
    moved = with_.state["scale"].numpy() * without.logits + shift
    np.testing.assert_allclose(softmax(with_.logits), softmax(moved), atol=1e-5)
    labels = problem.graph.labels[val]
    assert log_loss(with_.logits[val], labels) < log_loss(without.logits[val], labels)
    again = MultiViewEnsemble("topology").predict(with_.state, problem.graph, problem.settings)
    np.testing.assert_array_equal(again, with_.logits)
    several = trained_with("knn+hops+structure", True)
    assert several.state["scale"].shape == (3,)
    assert re.search(r"scale of knn [\d.]+, hops [\d.]+, structure [\d.]+, shift of", several.note)
    again = MultiViewEnsemble("knn+hops+structure").predict(several.state, problem.graph, problem.settings)
    np.testing.assert_array_equal(again, several.logits)


def test_many_validation_labels_set_mixing_matrices(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For own log p and, where the view has edges, for smoothed log p; likelier still; predicted again."""
    problem = shifted(world)
    nodes, val = problem.split.train, problem.split.val
    targets = Targets(nodes, problem.graph.labels[nodes], np.ones(nodes.size), nodes.size)
    monkeypatch.setattr("drgst.selftrain.learners.multiview.ensemble.SCALE_LABELS", 1)

    def trained_with(view: str, mixed: bool = True) -> Trained:
        return MultiViewEnsemble(view, l2=(3e-3,), mixed=mixed).train(problem, targets, cross_entropy, (0,), None)

    assert "matrices" not in trained_with("topology").state, "fewer than 25 validation labels per class"
    monkeypatch.setattr("drgst.selftrain.learners.multiview.ensemble.MIXING_LABELS", 1)
    labels = problem.graph.labels[val]
    for view, inputs in (("topology", 2), ("knn+hops+structure", 2), ("features", 1)):
        with_, without = trained_with(view), trained_with(view, mixed=False)
        assert with_.state["matrices"].shape == (inputs, 3, 3)
        assert "matrices" not in without.state
        assert log_loss(with_.logits[val], labels) < log_loss(without.logits[val], labels)
        assert ("of smoothed log p" in with_.note) == (inputs == 2)
        assert ", mean weight of own log p " in with_.note
        again = MultiViewEnsemble(view).predict(with_.state, problem.graph, problem.settings)
        np.testing.assert_array_equal(again, with_.logits)


def test_validation_labels_choose_the_l2(world: Any) -> None:
    """The one that is right most often on them; without any, the first."""
    problem = world.problem("drgst-plus")
    nodes, val = problem.split.train, problem.split.val
    targets = Targets(nodes, problem.graph.labels[nodes], np.ones(nodes.size), nodes.size)

    def right(l2: tuple[float, ...], problem: Problem = problem) -> tuple[np.ndarray, float]:
        logits = MultiViewEnsemble("features", l2=l2).train(problem, targets, cross_entropy, (0,), None).logits
        return logits, float((logits[val].argmax(axis=1) == world.graph.labels[val]).mean())

    each = [right((l2,))[1] for l2 in (3e-4, 3e-2, 3.0)]
    assert right((3e-4, 3e-2, 3.0))[1] == max(each)
    unaided = Problem.of(world.graph, world.split.without_validation(), problem.settings)
    np.testing.assert_array_equal(right((3e-4, 3.0), unaided)[0], right((3e-4,), unaided)[0])
    assert not np.array_equal(right((3.0, 3e-4), unaided)[0], right((3e-4,), unaided)[0])


def test_some_representations_of_every_view(world: Any) -> None:
    """The third of kNN; hops and structure have no third, so all of theirs."""
    problem = world.problem("drgst-plus")
    nodes = problem.split.train
    targets = Targets(nodes, problem.graph.labels[nodes], np.ones(nodes.size), nodes.size)
    learner = MultiViewEnsemble("knn+hops+structure", representations=(2,))
    result = learner.train(problem, targets, cross_entropy, (0,), None)
    used = {key[:-5].split(".", 1)[1] for key in result.state if key.endswith(".bias")}
    assert used == {"0.2", "1.0", "1.1", "2.0"}


def test_of_many_pseudo_labels_some_are_kept_with_the_same_weight_in_all() -> None:
    rng = np.random.default_rng(0)
    many = Targets(np.arange(3, 110), rng.integers(0, 3, 107), rng.random(107), 7)
    few = subsample(many, most=30)
    assert few.true == 7
    np.testing.assert_array_equal(few.nodes, [*range(3, 10), *range(10, 110, 4)])
    np.testing.assert_array_equal(few.labels, many.labels[few.nodes - 3])
    np.testing.assert_array_equal(few.weights[:7], many.weights[:7])
    np.testing.assert_allclose(few.weights[7:].sum(), many.weights[7:].sum())
    np.testing.assert_allclose(few.weights[7:] / few.weights[7], many.weights[7::4] / many.weights[7])


@pytest.mark.parametrize(("classes", "wanted"), [(2, 3e-4), (10, 3e-4), (70, 3e-4 / 7)])
def test_many_classes_lower_the_l2(classes: int, wanted: float) -> None:
    assert scale_l2(3e-4, classes) == pytest.approx(wanted)


@pytest.mark.parametrize("most", [100, 1_000])
def test_few_pseudo_labels_are_all_kept(most: int) -> None:
    targets = Targets(np.arange(107), np.zeros(107, dtype=np.int64), np.ones(107), 7)
    assert subsample(targets, most) is targets


def test_validation_labels_that_miss_a_class_set_nothing(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scales and a shift would take that class from every node."""
    problem = world.problem("drgst-plus")
    monkeypatch.setattr("drgst.selftrain.learners.multiview.ensemble.SCALE_LABELS", 1)
    monkeypatch.setattr("drgst.selftrain.learners.multiview.ensemble.MIXING_LABELS", 1)
    nodes, split = problem.split.train, problem.split
    targets = Targets(nodes, problem.graph.labels[nodes], np.ones(nodes.size), nodes.size)
    fewer = replace(split, val=split.val[problem.graph.labels[split.val] != 0])
    for known, fitted in ((split, True), (fewer, False)):
        part = Problem(problem.graph, known, problem.settings)
        trained = MultiViewEnsemble("topology", l2=(3e-3,)).train(part, targets, cross_entropy, (0,), None)
        assert ("scale" in trained.state) == ("matrices" in trained.state) == fitted
