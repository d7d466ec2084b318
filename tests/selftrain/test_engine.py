"""The engine: what it must never do, that its bits depend on the seed alone, and the oddest graphs it must survive."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from drgst.errors import SettingError
from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.recipes import find_recipe
from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History, result_stage
from drgst.selftrain.learners.network import Network
from drgst.selftrain.persist import load_stage, save_stage
from drgst.selftrain.recipe import Recipe

NAMES = ("drgst-de", "drgst-both", "as-released-do")


@dataclass(frozen=True)
class Spy(Network):
    """The usual learner, which keeps the targets of every training."""

    seen: tuple = ()

    def train(self, problem, targets, loss, seed, on_epoch):  # type: ignore[no-untyped-def]
        self.seen[0].append(targets)
        return super().train(problem, targets, loss, seed, on_epoch)


def spied(world, name: str, **changes) -> list:  # type: ignore[no-untyped-def]
    """The targets of every training of a run."""
    problem = world.problem(name, **changes)
    seen: list = []
    self_train(problem, replace(find_recipe(name).make(problem.settings), learner=Spy(seen=(seen,))))
    return seen


def test_it_learns(world, history) -> None:
    """The last student is right about most test nodes; else the tests below would say little."""
    right = history[-1].logits.argmax(axis=1) == world.graph.labels
    assert right[world.split.test].mean() > 0.7
    assert history[1].pseudo_labels.nodes.size > 5


@pytest.mark.parametrize("name", NAMES)
def test_scrambled_test_labels_change_nothing(world, same, name: str) -> None:
    """Labels of test and pool nodes: permuted, hidden or all of one class, the run is the same in every bit."""
    unseen = np.union1d(world.split.test, world.split.pool)
    plain = world.run(name)
    for lie in (np.random.default_rng(0).permutation(world.graph.labels[unseen]), -1, 2):
        labels = world.graph.labels.copy()
        labels[unseen] = lie
        same(replace(world, graph=world.graph.with_(labels=labels)).run(name), plain)


@pytest.mark.parametrize("name", NAMES)
def test_true_labels_are_never_overwritten(world, name: str) -> None:
    """Every training has all of V_L with its true labels, and no node twice, though networks doubt some of them."""
    train = world.split.train
    for targets in spied(world, name):
        np.testing.assert_array_equal(targets.nodes[: targets.true], train)
        np.testing.assert_array_equal(targets.labels[: targets.true], world.graph.labels[train])
        assert np.unique(targets.nodes).size == targets.nodes.size


@pytest.mark.parametrize("name", NAMES)
def test_the_pool_is_never_left(world, name: str) -> None:
    for targets in spied(world, name, threshold=0.0, stages=3):
        assert np.isin(targets.nodes[targets.true :], world.split.pool).all()


def test_test_nodes_join_only_where_the_split_says_so(world) -> None:
    """With the pool all-but-validation they may be pseudo-labelled; validation nodes never."""
    wide = replace(world, split=world.split.with_pool("all-but-validation", 60))
    entered = wide.run(threshold=0.0)[1].pseudo_labels.nodes
    assert np.isin(world.split.test, entered).all()
    assert not np.isin(world.split.val, entered).any()


@pytest.mark.parametrize("where", ["train", "val", "test"])
def test_a_select_part_that_leaves_the_pool_is_refused(world, where: str) -> None:
    node = int(getattr(world.split, where)[0])

    def greedy(beliefs):  # type: ignore[no-untyped-def]
        return PseudoLabels.of(np.array([node]), np.array([0]))

    with pytest.raises(SettingError, match=f"returned node {node}, which is not in the pool"):
        self_train(world.problem(), Recipe(select=greedy))


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bits_another_seed_other_bits(world, same, name: str) -> None:
    one = world.run(name, seed=4)
    same(world.run(name, seed=4), one)
    assert (world.run(name, seed=5, stages=0)[0].logits != one[0].logits).any()


def test_global_random_state_neither_matters_nor_moves(world, history, same) -> None:
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    before = torch.get_rng_state()
    same(world.run(), history)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("name", ["drgst-de", "as-released-do"])
@pytest.mark.parametrize("done", [0, 1, 2, 3])
def test_a_truncated_history_goes_on_with_the_same_bits(world, same, tmp_path, name: str, done: int) -> None:
    """As after a kill: the finished stages come back from their files, the rest is run again."""
    whole = world.run(name, stages=3)
    assert len(whole) == 4
    kept = []
    for stage in whole.stages[:done]:
        save_stage(stage, tmp_path / str(stage.number))
        kept.append(load_stage(tmp_path / str(stage.number)))
    same(world.run(name, stages=3, history=History(tuple(kept))), whole)


@pytest.mark.parametrize("kind", ["dropout", "dropedge"])
def test_relabelling_the_nodes_relabels_the_result(world, kind: str) -> None:
    """Nodes in another order give the same run in that order, to rounding.

    Dropout masks and sampled edges belong to positions, so both are off: dropout 0 and the closed estimator. Weights
    start from (features, hidden) alone and do not know the order of nodes.
    """
    order = np.random.default_rng(3).permutation(60)  # new position k holds old node order[k]
    place = np.argsort(order)
    g, s = world.graph, world.split
    moved = g.with_(features=g.features[order], adjacency=g.adjacency[order][:, order].tocsr(), labels=g.labels[order])
    split = replace(s, **{part: np.sort(place[getattr(s, part)]) for part in ("train", "val", "test", "pool")})
    name = {"dropout": "drgst-do", "dropedge": "drgst-de"}[kind]
    settings = {"dropout": 0.0, "estimator": "closed", "epochs": 20}
    plain, other = world.run(name, **settings), type(world)(moved, split).run(name, **settings)
    assert len(plain) == len(other) == 3
    for a, b in zip(plain.stages, other.stages, strict=True):
        np.testing.assert_array_equal(np.sort(place[a.pseudo_labels.nodes]), b.pseudo_labels.nodes)
        np.testing.assert_allclose(a.logits[order], b.logits, atol=2e-3)
        np.testing.assert_allclose(a.all_gain[order], b.all_gain, rtol=2e-2, atol=1e-6)


def test_no_pseudo_labels_are_a_reason_to_stop(world) -> None:
    done = world.run(threshold=0.999)
    assert done.stop_reason == "no unlabelled node is pseudo-labelled"
    assert len(done) == 1
    assert result_stage(done, "last").number == 0


def test_unchanged_pseudo_labels_are_convergence(world) -> None:
    done = world.run(threshold=0.0, stages=30, agreement=0.7)
    assert done.stop_reason.startswith("converged")
    assert len(done) < 31


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
