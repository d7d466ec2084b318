"""Normalised forms against dense hand computations; restricted and dropped graphs."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.nn.inputs import Inputs
from drgst.nn.ops.adjacency import FORMS
from drgst.nn.random import generator


def test_plain_and_loops(inputs: Inputs) -> None:
    """The other forms are tested with :mod:`drgst.transforms.propagate`."""
    a = inputs.adj.matrix.toarray()
    assert np.array_equal(inputs.adj.form("plain").scipy.toarray(), a)
    assert np.array_equal(inputs.adj.form("loops").scipy.toarray(), (a != 0) + np.eye(6))


@pytest.mark.parametrize("form", FORMS)
def test_symmetric_forms_are_marked_as_such(form: str, inputs: Inputs) -> None:
    made = inputs.adj.form(form)
    dense = made.scipy.toarray()
    assert made.symmetric == np.allclose(dense, dense.T, atol=1e-7)
    assert inputs.adj.form(form) is made  # made once


@pytest.mark.parametrize("form", FORMS)
def test_restricted_forms_are_slices_of_the_whole(form: str, ring: Inputs) -> None:
    nodes = np.array([0, 1, 2, 9, 10])
    part = ring.adj.restrict(nodes)
    whole = ring.adj.form(form).scipy.toarray()
    assert np.array_equal(part.form(form).scipy.toarray(), whole[np.ix_(nodes, nodes)])


def test_drop_acts_on_each_directed_edge_at_its_rate(ring: Inputs) -> None:
    rng = generator(0)
    kept = np.array([ring.adj.drop(0.3, rng).matrix.data > 0 for _ in range(500)])
    assert abs(kept.mean() - 0.7) < 0.01
    dropped = ring.adj.drop(0.5, rng)
    assert not dropped.symmetric
    assert (dropped.matrix != dropped.matrix.T).nnz > 0
    assert set(np.unique(ring.adj.matrix.data)) == {1.0}  # the graph itself is untouched


def test_a_dropped_graph_is_normalised_by_its_own_degrees(ring: Inputs) -> None:
    dropped = ring.adj.drop(0.5, generator(1))
    loops = dropped.matrix.toarray() + np.eye(40)
    degree = loops.sum(axis=1)
    expected = loops / np.sqrt(degree[:, None] * degree[None, :])
    np.testing.assert_allclose(dropped.sym.scipy.toarray(), expected, rtol=1e-6)


def test_hops_grow_along_the_edges(inputs: Inputs) -> None:
    for depth, expected in enumerate([[4], [3, 4], [2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]):
        assert inputs.adj.hops(np.array([4]), depth).tolist() == expected
    assert inputs.adj.hops(np.array([5, 4]), 1).tolist() == [3, 4, 5]
