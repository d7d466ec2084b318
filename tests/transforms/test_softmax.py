"""Softmax by hand, at extremes, and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from drgst.transforms.softmax import log_softmax, log_softmax_float32, row_max, softmax


def test_softmax_by_hand_and_at_extremes() -> None:
    """Equal logits have equal probabilities; large ones do not overflow."""
    np.testing.assert_allclose(softmax(np.array([[0.0, 0.0], [np.log(3), 0.0]])), [[0.5, 0.5], [0.75, 0.25]])
    np.testing.assert_allclose(softmax(np.array([[1e4, 0.0], [-1e4, 0.0]], dtype=np.float32)), [[1, 0], [0, 1]])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("scale", [1e-3, 1, 30])
def test_log_softmax_is_bit_identical_to_scipy(order: str, scale: float) -> None:
    z = np.asarray(scale * np.random.default_rng(0).normal(size=(40, 7)), order=order)  # type: ignore[call-overload]
    np.testing.assert_array_equal(log_softmax(z), scipy.special.log_softmax(z, axis=1))
    np.testing.assert_allclose(np.exp(log_softmax(z)), softmax(z), rtol=1e-12)


def test_float32_logits_give_float64() -> None:
    z = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    assert log_softmax(z).dtype == softmax(z).dtype == np.float64


@pytest.mark.parametrize("rows", [40, 39])
def test_few_rows_in_float64_and_many_in_float32(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drgst.transforms.softmax.DOUBLE_ROWS", rows)
    z = 10 * np.random.default_rng(0).normal(size=(40, 7))
    found = log_softmax_float32(z)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, log_softmax(z), rtol=1e-5, atol=1e-5)
    if rows == 40:
        np.testing.assert_array_equal(found, log_softmax(z).astype(np.float32))


@pytest.mark.parametrize("columns", [1, 5, 40])
def test_row_maxima(columns: int) -> None:
    """Few columns or many, of any memory order."""
    z = np.random.default_rng(0).normal(size=(7, columns)).astype(np.float32)
    for given in (z, np.asfortranarray(z)):
        np.testing.assert_array_equal(row_max(given)[:, 0], z.max(axis=1))
