"""Correct-and-smooth on graphs small enough to work out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from drgst.graph.core import make_graph
from drgst.graph.split import Split
from drgst.selftrain.engine import self_train
from drgst.selftrain.history import History
from drgst.selftrain.problem import Problem
from drgst.selftrain.recipe import Recipe
from drgst.selftrain.settings import Settings
from drgst.selftrain.slots.postprocess import Context, CorrectAndSmooth, corrected
from drgst.transforms.propagate import sym_norm_without_loops
from drgst.transforms.softmax import softmax


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
