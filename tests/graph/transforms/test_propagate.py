"""Propagation: one step by hand, the limit against the dense solution, smoothed probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drgst.graph.core import make_graph
from drgst.graph.transforms.normalise import sym_norm, sym_norm_without_loops
from drgst.graph.transforms.propagate import propagate, propagate_to_limit, smooth_log_probs
from drgst.graph.transforms.softmax import log_softmax


def test_one_step_by_hand() -> None:
    """S of a pair swaps its nodes: G¹ = (1-α) Y + α swapped."""
    a = np.zeros((5, 5))
    a[0, 2] = a[1, 3] = 1
    s = sym_norm_without_loops(make_graph(None, a, [0, 1, -1, -1, -1]).adjacency)
    start = np.array([[1.0], [0], [0], [0], [0.5]])
    np.testing.assert_allclose(propagate(s, start, 0.8, 1).ravel(), [0.2, 0, 0.8, 0, 0.1], atol=1e-6)
    np.testing.assert_array_equal(propagate(s, start, 0.8, 0), start)


@pytest.mark.parametrize("restart", [0.1, 0.5])
def test_the_limit_against_the_dense_solution(world: Any, restart: float) -> None:
    s = sym_norm_without_loops(world.graph.adjacency).astype(np.float64)
    y = np.zeros((60, 3))
    y[np.arange(9), world.graph.labels[:9]] = 1
    dense = restart * np.linalg.solve(np.eye(60) - (1 - restart) * s.toarray(), y)
    np.testing.assert_allclose(propagate_to_limit(s, y, restart), dense, atol=1e-6)
    rough = np.abs(propagate_to_limit(s, y, restart, tolerance=0.1) - dense).max()
    assert 1e-6 < rough < 0.1


def test_smoothed_probabilities(world: Any) -> None:
    """G⁰ = p, five times G ← 0.2 p + 0.8 Â G; rows sum to 1."""
    log_p = log_softmax(np.random.default_rng(0).normal(size=(60, 3)))
    s = sym_norm(world.graph.adjacency)
    g = np.exp(log_p)
    for _ in range(5):
        g = 0.2 * np.exp(log_p) + 0.8 * (s.toarray() @ g)
    np.testing.assert_allclose(np.exp(smooth_log_probs(log_p, s)), g / g.sum(axis=1, keepdims=True), atol=1e-6)
