"""Normalised adjacency matrices against dense hand computations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.transforms.normalise import laplacian_norm, mean_norm, sym_norm, sym_norm_without_loops


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
    np.testing.assert_array_equal(laplacian_norm(path).toarray(), -sym_norm_without_loops(path).toarray())


def test_mean_norm_by_hand(path: sp.csr_array) -> None:
    expected = [[0, 1, 0, 0], [1 / 3, 0, 2 / 3, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(mean_norm(path).toarray(), expected, rtol=1e-6)
