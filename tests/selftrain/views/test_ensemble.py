"""The ensemble: by hand, bit-identical again, on other graphs, and the logits that selection goes by."""

import re
from typing import Any

import numpy as np
import pytest
import torch

from drgst.datasets.synthetic import block_model
from drgst.decide.contributions import ViewContributions
from drgst.errors import RunError, SettingError
from drgst.graph.core import Graph, make_graph
from drgst.graph.split import Split, random_split
from drgst.nn.losses import CorrectedCrossEntropy, NodeLoss, cross_entropy
from drgst.selftrain.learners.base import Trained
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.selftrain.views import ensemble as module
from drgst.selftrain.views import shared
from drgst.selftrain.views.ensemble import MultiViewEnsemble, combine, disagreement, evaluate, evened, subsample
from drgst.selftrain.views.graph_views import Views
from drgst.selftrain.views.prior import match_prior
from drgst.transforms import products
from drgst.transforms.propagate import sym_norm
from drgst.transforms.softmax import log_softmax, softmax


def trained(
    problem: Problem, view: str = "topology", loss: NodeLoss = cross_entropy, *, align_prior: bool = True
) -> Trained:
    """An ensemble fitted to the training labels."""
    nodes = problem.split.train
    targets = Targets(nodes, problem.graph.labels[nodes], np.ones(nodes.size), nodes.size)
    return MultiViewEnsemble(view, align_prior=align_prior).train(problem, targets, loss, (0,), None)


def part(graph: Graph, nodes: np.ndarray) -> Graph:
    """The subgraph of some nodes."""
    return make_graph(
        graph.features[nodes],
        graph.adjacency[nodes][:, nodes],
        graph.labels[nodes],
        node_ids=graph.node_ids[nodes],
        class_names=graph.class_names,
    )


def test_disagreement_by_hand() -> None:
    """Two classifiers that are certain of different classes differ by log 2, two uniform ones by nothing."""
    tiny = 1e-9
    one = np.log(np.array([[1 - tiny, tiny], [0.5, 0.5], [0.8, 0.2]]))
    two = np.log(np.array([[tiny, 1 - tiny], [0.5, 0.5], [0.4, 0.6]]))
    mixed = -(0.6 * np.log(0.6) + 0.4 * np.log(0.4))
    own = -(0.8 * np.log(0.8) + 0.2 * np.log(0.2) + 0.4 * np.log(0.4) + 0.6 * np.log(0.6)) / 2
    found = disagreement({"one": one, "two": two}, {"one": 0.5, "two": 0.5})
    np.testing.assert_allclose(found, [np.log(2), 0, mixed - own], atol=1e-6)


def test_views_count_by_their_weights() -> None:
    """log p = log softmax(Σ_v w_v L_v)."""
    graph = block_model(100, 300, seed=0, classes=3, features=60)
    problem = Problem.of(graph, random_split(graph, per_class=5, val=0, test=20, seed=0), Settings())
    both, knn, hops = (trained(problem, view) for view in ("knn+hops", "knn", "hops"))
    w = MultiViewEnsemble("knn+hops").view_weights(problem)
    assert sum(w.values()) == pytest.approx(1)
    np.testing.assert_allclose(both.logits, log_softmax(w["knn"] * knn.logits + w["hops"] * hops.logits), atol=1e-4)


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
    loose, held = trained(problem, view, align_prior=False), trained(problem, view)
    assert loose.selection_logits is not None
    np.testing.assert_allclose(loose.selection_logits, loose.logits, atol=1e-5)
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


def test_other_losses_are_refused(world: Any) -> None:
    transition = torch.tensor([[0.6, 0.4, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(SettingError, match="fitted by cross-entropy"):
        trained(world.problem("drgst-plus"), loss=CorrectedCrossEntropy(transition))


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


def test_new_nodes_are_predicted_nearly_as_by_a_new_fit() -> None:
    """New nodes that join old ones by edges, and new nodes alone."""
    graph = block_model(400, 2_000, seed=0, classes=3, features=60, homophily=0.8, signal=0.6)
    old, new = np.arange(300), np.arange(300, 400)
    split = Split(np.arange(30), np.empty(0, np.int64), np.empty(0, np.int64), np.arange(30, 300))
    learner = MultiViewEnsemble(weights=(("topology", 0.8), ("neighbours", 0.2)))
    targets = Targets(split.train, graph.labels[split.train], np.ones(30), 30)
    known, all_nodes = Problem.of(part(graph, old), split, Settings()), Problem.of(graph, split, Settings())
    state = learner.train(known, targets, cross_entropy, (0,), None).state
    refit = learner.train(all_nodes, targets, cross_entropy, (0,), None).logits

    def right(logits: np.ndarray, nodes: np.ndarray) -> float:
        return float((logits.argmax(axis=1) == graph.labels[nodes]).mean())

    joined = MultiViewEnsemble().predict(state, graph, Settings())
    assert right(joined[new], new) > right(refit[new], new) - 0.05
    with pytest.warns(UserWarning, match="the remaining views are used"):
        alone = MultiViewEnsemble().predict(state, part(graph, new), Settings())
    assert right(alone, new) > 0.6


def test_a_model_of_an_earlier_version_is_refused(world: Any) -> None:
    """Its propagated views had no map: a map of the new graph would be another."""
    state = dict(trained(world.problem("drgst-plus")).state)
    del state["map.topology.map"]
    with pytest.raises(RunError, match="fitted by an earlier version, which had another view 'topology'; fit it again"):
        MultiViewEnsemble().predict(state, world.graph, Settings())


def test_a_node_without_one_view(world: Any) -> None:
    """The weights of the others sum to 1 again, as where a graph does not allow a view."""
    problem = world.problem("drgst-plus")
    whole, knn = trained(problem, "knn+hops"), trained(problem, "knn")
    found = ViewContributions(whole.state, world.graph).at(20, np.empty(0, dtype=np.int64))
    assert set(found.names) == {"knn", "hops"}
    assert float(whole.state["knn.share"]) < 0.9
    np.testing.assert_allclose(found.without_view("hops"), knn.logits[20], atol=1e-3)
    np.testing.assert_allclose(found.without(np.zeros((2, 3))), whole.logits[20], atol=1e-3)


def test_the_note_and_the_embedding(world: Any) -> None:
    result = trained(world.problem("drgst-plus"), "hops+knn")
    words = r"View weights: \w+ 0\.\d\d, \w+ 0\.\d\d\. Features are numeric, so they are rank-normalised\."
    assert re.fullmatch(words, result.note)
    assert result.embedding.shape[0] == 60
    assert result.embedding.shape[1] <= 64


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


def test_one_other_pseudo_label_changes_one_of_those_that_a_large_graph_keeps() -> None:
    nodes = np.sort(np.random.default_rng(0).choice(5_000, 2_001, replace=False))
    before, after = (Targets(part, part % 3, np.ones(2_000), 0) for part in (nodes[1:], np.delete(nodes, 1_000)))
    kept = [subsample(targets, 400, stage=2).nodes for targets in (before, after)]
    assert [part.size for part in kept] == [400, 400]
    assert np.intersect1d(*kept).size >= 398
    assert np.histogram(kept[0], 4, (0, 5_000))[0].min() > 80, "they are spread evenly"
    assert np.intersect1d(kept[0], subsample(before, 400, stage=3).nodes).size < 200, "a stage has others"


def test_the_labels_of_a_class_weigh_the_root_of_their_number() -> None:
    """In all, with the sum as before and pseudo-labels as they are; equal numbers change nothing."""
    labels = np.array([0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 1, 1, 0])
    targets = Targets(np.arange(17), labels, np.full(17, 0.7), 14)
    even = evened(targets)
    np.testing.assert_allclose(even.weights.sum(), targets.weights.sum())
    np.testing.assert_array_equal(even.weights[14:], targets.weights[14:])
    shares = np.bincount(labels[:14], even.weights[:14], minlength=4)
    np.testing.assert_allclose(shares / shares[3], [2, 0, 3, 1])
    balanced = Targets(np.arange(6), np.array([0, 1, 2, 0, 1, 2]), np.full(6, 2.5), 6)
    np.testing.assert_allclose(evened(balanced).weights, balanced.weights)


def test_given_weights_count_within_a_class() -> None:
    targets = Targets(np.arange(3), np.array([0, 0, 1]), np.array([3.0, 1.0, 0.0]), 3)
    np.testing.assert_allclose(evened(targets).weights, [3, 1, 0])


@pytest.mark.parametrize("most", [100, 1_000])
def test_few_pseudo_labels_are_all_kept(most: int) -> None:
    targets = Targets(np.arange(107), np.zeros(107, dtype=np.int64), np.ones(107), 7)
    assert subsample(targets, most) is targets


@pytest.mark.parametrize("large", [False, True])
def test_an_ensemble_in_blocks_is_the_same_as_all_at_once(
    world: Any, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    """Of a large graph in blocks of 16 bits, by several threads."""
    monkeypatch.setattr(shared, "WIDE_NODES", 1 if large else 100)
    monkeypatch.setattr(products, "BLOCK_BYTES", 7 * 4 * 256)  # seven rows of the widest view at most
    monkeypatch.setattr(module, "NARROW_BYTES", 7 * 4 * 256)
    views, weights, rng = Views(world.graph), {"features": 0.7, "structure": 0.3}, np.random.default_rng(0)
    classes, z = world.graph.num_classes, {name: views[name].astype("f4") for name in weights}
    state = {f"{n}.weight": rng.normal(size=(x.shape[1], classes)).astype("f4") for n, x in z.items()}
    state |= {f"{n}.bias": rng.normal(size=classes).astype("f4") for n in z}
    each = {n: log_softmax(x @ state[f"{n}.weight"] + state[f"{n}.bias"]) for n, x in z.items()}
    log_p, gain = evaluate(views, state, weights)
    assert log_p.dtype == gain.dtype == np.float32
    np.testing.assert_allclose(log_p, combine(each, weights), atol=1e-5)
    np.testing.assert_allclose(gain, disagreement(each, weights), atol=1e-5)
