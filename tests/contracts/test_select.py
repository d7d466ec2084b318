"""What every select part keeps to, also a user's own."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.checks import check_pseudo_labels
from drgst.selftrain.parts import (
    Accumulate,
    ClusterChecked,
    Intersection,
    Margin,
    Nothing,
    RandomWalk,
    Threshold,
    TopPerClass,
    TopShare,
    Union,
)


def near_the_labelled(beliefs: Beliefs) -> PseudoLabels:
    """A user's function: candidates that are adjacent to a training node."""
    near = np.unique(beliefs.graph.adjacency[beliefs.split.train].indices)
    nodes = np.intersect1d(near, beliefs.candidates)
    return PseudoLabels.of(nodes, beliefs.predictions[nodes])


@dataclass(frozen=True)
class EveryOther:
    """A user's part around a part."""

    inner: Any

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        pseudo = self.inner(beliefs)
        return PseudoLabels(pseudo.nodes[::2], pseudo.labels[::2])


SLOT = "select"
OURS = (
    Threshold(0.5),
    TopPerClass(3),
    TopPerClass(),
    TopShare(),
    Margin(3),
    RandomWalk(3),
    Union(Threshold(0.5), RandomWalk(3)),
    Intersection(Threshold(0.5), RandomWalk(5)),
    ClusterChecked(TopPerClass(3)),
    Accumulate(TopPerClass(3)),
    Nothing(),
)
OWN = (near_the_labelled, EveryOther(Threshold(0.5)))


def same(one: PseudoLabels, two: PseudoLabels) -> bool:
    return np.array_equal(one.nodes, two.nodes) and np.array_equal(one.labels, two.labels)


def test_nodes_of_the_pool_with_the_label_of_a_class(part: Any, beliefs: Beliefs) -> None:
    """Sorted, each once; and always the same."""
    pseudo = check_pseudo_labels(part(beliefs), beliefs)
    assert (np.diff(pseudo.nodes) > 0).all()
    assert pseudo.nodes.dtype == pseudo.labels.dtype == np.int64
    assert same(part(beliefs), pseudo)
    assert pseudo.nodes.size or isinstance(part, Nothing)


def test_hidden_labels_are_not_read(part: Any, beliefs: Beliefs, world: Any) -> None:
    """The true labels of test and pool nodes, or wrong ones, change nothing."""
    expected = part(beliefs)
    unseen = np.union1d(world.split.test, world.split.pool)
    for shown in (world.graph.labels[unseen], (world.graph.labels[unseen] + 1) % 3):
        labels = beliefs.graph.labels.copy()
        labels[unseen] = shown
        assert same(part(replace(beliefs, graph=beliefs.graph.with_(labels=labels))), expected)


def test_an_empty_pool(part: Any, worlds: Any) -> None:
    problem = worlds(nodes=39).problem()  # 9 + 15 + 15
    empty = Beliefs(np.zeros((39, 3)), problem.graph, problem.split, 0, np.zeros((39, 2)), np.zeros(39))
    assert part(empty).nodes.size == 0


def test_excluded_nodes_are_not_selected(part: Any, beliefs: Beliefs) -> None:
    if isinstance(part, Accumulate):
        pytest.skip("it excludes what it keeps itself")
    excluded = beliefs.split.pool[::2]
    assert not np.isin(part(replace(beliefs, excluded=excluded)).nodes, excluded).any()
