"""Features from the edges alone."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.transforms.structure import COLUMNS, structural_features


def test_two_cliques_are_told_apart_and_small_graphs_have_as_many_columns() -> None:
    clique = np.ones((5, 5)) - np.eye(5)
    a = np.block([[clique, np.zeros((5, 5))], [np.zeros((5, 5)), clique]])
    a[4, 5] = a[5, 4] = 1
    x = structural_features(sp.csr_array(a.astype(np.float32)))
    assert x.shape == (10, COLUMNS)
    assert x.dtype == np.float32
    near = x @ x.T
    same = np.kron(np.eye(2), np.ones((5, 5))).astype(bool)
    assert near[same].mean() > near[~same].mean() + 0.5
    np.testing.assert_allclose(x[:, -1].mean(), 0, atol=1e-6)
    assert x[4, -1] > x[0, -1]


def test_without_edges_all_are_zero() -> None:
    assert not structural_features(sp.csr_array((4, 4), dtype=np.float32)).any()
    assert structural_features(sp.csr_array((1, 1), dtype=np.float32)).shape == (1, COLUMNS)
