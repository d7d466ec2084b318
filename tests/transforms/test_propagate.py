"""Propagation: one step by hand, the limit against the dense solution, smoothed probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from drgst.datasets.synthetic import block_model
from drgst.graph.core import make_graph
from drgst.transforms import propagate as module
from drgst.transforms.features import centre
from drgst.transforms.normalise import sym_norm, sym_norm_without_loops
from drgst.transforms.products import Storage
from drgst.transforms.propagate import (
    polynomial_blocks,
    polynomials,
    propagate,
    propagate_to_limit,
    restart_coefficients,
    shortened,
    smooth_log_probs,
)
from drgst.transforms.softmax import log_softmax


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


@pytest.mark.parametrize("rows", [60, 59])
def test_smoothed_probabilities(world: Any, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """G⁰ = p, five times G ← 0.2 p + 0.8 Â G; rows sum to 1; also in float32."""
    monkeypatch.setattr(module, "DOUBLE_ROWS", rows)
    log_p = log_softmax(np.random.default_rng(0).normal(size=(60, 3)))
    s = sym_norm(world.graph.adjacency)
    g = np.exp(log_p)
    for _ in range(5):
        g = 0.2 * np.exp(log_p) + 0.8 * (s.toarray() @ g)
    np.testing.assert_allclose(np.exp(smooth_log_probs(log_p, s)), g / g.sum(axis=1, keepdims=True), atol=1e-6)


def test_smoothing_by_a_sum_of_matrices(world: Any) -> None:
    """Σ_i w_i S_i as weights and matrices gives what the matrix that they sum to gives."""
    log_p = log_softmax(np.random.default_rng(0).normal(size=(60, 3)))
    one, other = sym_norm(world.graph.adjacency), sym_norm_without_loops(world.graph.adjacency)
    parts = (0.3, one), (0.7, other)
    np.testing.assert_allclose(
        smooth_log_probs(log_p, parts), smooth_log_probs(log_p, 0.3 * one + 0.7 * other), atol=1e-4
    )


def test_half_of_the_products_give_nearly_the_same_polynomial() -> None:
    """Degree 10 for restart 0.1 within 0.0025 on [-1, 1]; a degree that is not exceeded changes nothing."""
    short, points = shortened(FAR, 10), np.linspace(-1, 1, 501)
    assert short.size == 11
    error = np.polynomial.polynomial.polyval(points, short) - np.polynomial.polynomial.polyval(points, FAR)
    assert 1e-4 < np.abs(error).max() < 0.0025
    np.testing.assert_allclose(shortened(NEAR, 10), NEAR, atol=1e-12)


@pytest.fixture
def x() -> np.ndarray:
    """More columns than one block has."""
    return np.random.default_rng(3).normal(1, 0.1, size=(60, 2 * module.WIDEST + 3)).astype(np.float32)


FAR, NEAR = restart_coefficients(0.1, 20), restart_coefficients(0.3, 10)


def test_several_polynomials_from_one_sequence(world: Any, x: np.ndarray) -> None:
    s = sym_norm(world.graph.adjacency)
    blocks = [(columns, [z.copy() for z in sums]) for columns, sums in polynomial_blocks(s, x, (FAR, NEAR))]
    assert [columns.start for columns, _ in blocks] == [0, 64, 128]
    for r, (restart, steps) in enumerate(((0.1, 20), (0.3, 10))):
        whole = np.concatenate([sums[r] for _, sums in blocks], axis=1)
        np.testing.assert_allclose(whole, propagate(s, x, 1 - restart, steps), rtol=1e-5)


def test_representations_are_centred_unit_rows_of_the_propagation(world: Any, x: np.ndarray, tmp_path: Path) -> None:
    s = sym_norm(world.graph.adjacency)
    wanted = [centre(propagate(s, x, 1 - restart, steps)) for restart, steps in ((0.1, 20), (0.3, 10))]
    for storage, tolerance in ((Storage(), 1e-5), (Storage("float16"), 1e-3), (Storage("float16", tmp_path), 1e-3)):
        for found, z in zip(polynomials(s, x, (FAR, NEAR), storage)[0], wanted, strict=True):
            assert found.dtype == storage.dtype
            np.testing.assert_allclose(found, z, atol=tolerance)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["z-0.npy", "z-1.npy"]


def test_values_too_small_for_float16_keep_their_precision(world: Any, x: np.ndarray) -> None:
    s = sym_norm(world.graph.adjacency)
    ((small,), _) = polynomials(s, x * np.float32(1e-12), (FAR,), Storage("float16"))
    np.testing.assert_allclose(small, centre(propagate(s, x, 0.9, 20)), atol=1e-3)


def test_hops_are_the_rows_of_an_identity_matrix(world: Any, x: np.ndarray) -> None:
    s = sym_norm(world.graph.adjacency)
    (own, _, second), _ = polynomials(s, x, np.eye(3))
    np.testing.assert_allclose(own, centre(x), atol=1e-5)
    np.testing.assert_allclose(second, centre(s @ (s @ x)), atol=1e-5)


def test_constant_columns_give_zeros(world: Any) -> None:
    ((z,), _) = polynomials(sym_norm_without_loops(world.graph.adjacency), np.zeros((60, 2), dtype=np.float32), (NEAR,))
    assert not z.any()


def test_threads_do_not_change_the_result() -> None:
    graph = block_model(4_000, 20_000, seed=0)  # enough rows to be shared between threads
    x = np.random.default_rng(0).normal(size=(4_000, 64)).astype(np.float32)
    s, before, found = sym_norm(graph.adjacency), torch.get_num_threads(), []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append(polynomials(s, x, (FAR,))[0][0])
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*found)
