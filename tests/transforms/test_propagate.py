"""Normalised adjacency matrices and one step by hand, the limit against the dense solution, polynomials, smoothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from drgst.datasets.synthetic import block_model
from drgst.graph.core import make_graph
from drgst.transforms import products
from drgst.transforms import propagate as module
from drgst.transforms.features import row_l2
from drgst.transforms.propagate import (
    Polynomial,
    mean_norm,
    propagate,
    propagate_to_limit,
    restart_coefficients,
    shortened,
    smooth_log_probs,
    sym_norm,
    sym_norm_without_loops,
)
from drgst.transforms.softmax import log_softmax


@pytest.fixture
def path() -> sp.csr_array:
    """0 - 1 = 2 (weight 2), and 3 alone."""
    a = np.zeros((4, 4), dtype=np.float32)
    a[0, 1] = a[1, 0] = 1
    a[1, 2] = a[2, 1] = 2
    return sp.csr_array(a)


def test_sym_norm_by_hand(path: sp.csr_array) -> None:
    """Degrees with loops are 2, 4, 3, 1."""
    expected = np.diag([1 / 2, 1 / 4, 1 / 3, 1])
    expected[0, 1] = expected[1, 0] = 1 / 8**0.5
    expected[1, 2] = expected[2, 1] = 2 / 12**0.5
    np.testing.assert_allclose(sym_norm(path).toarray(), expected, rtol=1e-6)


def test_without_loops_by_hand(path: sp.csr_array) -> None:
    """Degrees are 1, 3, 2, 0; the row of the isolated node is zero."""
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 1 / 3**0.5
    expected[1, 2] = expected[2, 1] = 2 / 6**0.5
    np.testing.assert_allclose(sym_norm_without_loops(path).toarray(), expected, rtol=1e-6)


def test_mean_norm_by_hand(path: sp.csr_array) -> None:
    expected = [[0, 1, 0, 0], [1 / 3, 0, 2 / 3, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(mean_norm(path).toarray(), expected, rtol=1e-6)


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
    """Degree 8 for restart 0.15 within 0.0047 on [-1, 1]; a degree that is not exceeded changes nothing."""
    whole, points = restart_coefficients(0.15, 20), np.linspace(-1, 1, 501)
    short = shortened(whole, 8)
    assert short.size == 9
    error = np.polynomial.polynomial.polyval(points, short) - np.polynomial.polynomial.polyval(points, whole)
    assert 1e-4 < np.abs(error).max() < 0.0047
    np.testing.assert_allclose(shortened(NEAR, 10), NEAR, atol=1e-12)


def centre(z: np.ndarray) -> np.ndarray:
    """Centred rows of unit length."""
    return row_l2(z - z.mean(axis=0))


@pytest.fixture
def x() -> np.ndarray:
    """More columns than one block has."""
    return np.random.default_rng(3).normal(1, 0.1, size=(60, 2 * products.MOST + 3)).astype(np.float32)


FAR, NEAR = restart_coefficients(0.1, 20), restart_coefficients(0.3, 10)


@pytest.mark.parametrize(("coefficients", "restart", "steps"), [(FAR, 0.1, 20), (NEAR, 0.3, 10)])
def test_polynomials_are_propagations(
    world: Any, x: np.ndarray, tmp_path: Path, coefficients: np.ndarray, restart: float, steps: int
) -> None:
    """In blocks of columns; as centred unit rows of every storage, with the mean that is subtracted."""
    s = sym_norm(world.graph.adjacency)
    polynomial, wanted = Polynomial(s, coefficients), propagate(s, x, 1 - restart, steps)
    blocks = [(columns.start, z.copy()) for columns, z in polynomial.blocks(x)]
    assert [start for start, _ in blocks] == [0, 64, 128]
    np.testing.assert_allclose(np.concatenate([z for _, z in blocks], axis=1), wanted, rtol=1e-5)
    mapped = np.lib.format.open_memmap(tmp_path / "z.npy", mode="w+", dtype=np.float16, shape=x.shape)
    for out, tolerance in ((np.empty_like(x), 1e-5), (np.empty(x.shape, np.float16), 1e-3), (mapped, 1e-3)):
        found, mean = polynomial.unit_rows(x, out)
        assert found is out
        np.testing.assert_allclose(found, centre(wanted), atol=tolerance)
        np.testing.assert_allclose(mean, wanted.mean(axis=0), rtol=1e-5)
    given, mean = polynomial.unit_rows(x, np.empty_like(x), np.zeros(x.shape[1], dtype=np.float32))
    np.testing.assert_allclose(given, row_l2(wanted), atol=1e-5)
    assert not mean.any()


def test_values_too_small_for_float16_keep_their_precision(world: Any, x: np.ndarray) -> None:
    s = sym_norm(world.graph.adjacency)
    small, _ = Polynomial(s, FAR).unit_rows(x * np.float32(1e-12), np.empty(x.shape, dtype=np.float16))
    np.testing.assert_allclose(small, centre(propagate(s, x, 0.9, 20)), atol=1e-3)


def test_narrow_rows_do_not_depend_on_how_columns_are_divided(x: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process of several has fewer rows and so wider blocks, whose sums of float32 have other last bits."""
    s = sym_norm(block_model(3_000, 15_000, seed=0).adjacency)
    wide, found = np.tile(x, (50, 1)) * np.linspace(1, 3, 3_000, dtype=np.float32)[:, None], []
    for most in (64, 3):
        monkeypatch.setattr(products, "MOST", most)
        found.append(Polynomial(s, NEAR).unit_rows(wide, np.empty(wide.shape, dtype=np.float16))[0])
    np.testing.assert_array_equal(*found)


def test_constant_columns_give_zeros(world: Any) -> None:
    s, x = sym_norm_without_loops(world.graph.adjacency), np.zeros((60, 2), dtype=np.float32)
    assert not Polynomial(s, NEAR).unit_rows(x, np.empty_like(x))[0].any()


def test_threads_do_not_change_the_result() -> None:
    graph = block_model(4_000, 20_000, seed=0)  # enough rows to be shared between threads
    x = np.random.default_rng(0).normal(size=(4_000, 64)).astype(np.float32)
    s, before, found = sym_norm(graph.adjacency), torch.get_num_threads(), []
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append(Polynomial(s, FAR).unit_rows(x, np.empty_like(x))[0])
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*found)
