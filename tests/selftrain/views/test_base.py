"""The ridge map of propagated views."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.selftrain.views.base import PENALTY, ridge_map
from drgst.transforms import products


def test_against_the_normal_equations() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.normal(3, 1, (50, 4)).astype(np.float32), rng.normal(size=(50, 3)).astype(np.float32)
    centred = x - x.mean(axis=0)
    penalty = PENALTY * centred.var(axis=0).mean() * 50
    expected = np.linalg.solve(centred.T @ centred + penalty * np.eye(4), centred.T @ z)
    np.testing.assert_allclose(ridge_map(x, z), expected, atol=1e-5)


def test_noise_is_shortened_and_what_is_predicted_stays() -> None:
    """The first column of z is that of x; the second has nothing to do with x."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2_000, 2)).astype(np.float32)
    found = ridge_map(x, np.stack([x[:, 0], rng.normal(size=2_000)], axis=1).astype(np.float32))
    np.testing.assert_allclose(found, [[1, 0], [0, 0]], atol=0.06)


def test_blocks_of_rows_and_16_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(500, 5)).astype(np.float16), rng.normal(size=(500, 5)).astype(np.float16)
    whole = ridge_map(x.astype(np.float32), z.astype(np.float32))
    monkeypatch.setattr(products, "BLOCK_BYTES", 1_000)
    np.testing.assert_allclose(ridge_map(x, z), whole, atol=1e-6)


def test_constant_columns_give_zeros() -> None:
    np.testing.assert_array_equal(ridge_map(np.ones((6, 2), np.float32), np.ones((6, 3), np.float32)), np.zeros((2, 3)))
