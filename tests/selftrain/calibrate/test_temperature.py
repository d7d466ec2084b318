"""One temperature, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.transforms.softmax import softmax
from drgst.uncertainty.calibration import fit_temperature, log_loss


def test_temperature_of_scaled_logits_is_the_scale() -> None:
    """Labels drawn from softmax(z): the best T of 3 z is 3 times that of z, near 3."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20_000, 4))
    y = (softmax(z).cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1)
    assert fit_temperature(z, y) == pytest.approx(1, abs=0.05)
    assert fit_temperature(3 * z, y) == pytest.approx(3 * fit_temperature(z, y), rel=1e-3)
    assert log_loss(z, y) < log_loss(3 * z, y)


def test_temperature_by_hand() -> None:
    """z = (1, 0), right two times in three: softmax(1/T) = 2/3 at 1/T = log 2."""
    z = np.tile([1.0, 0.0], (3, 1))
    assert fit_temperature(z, np.array([0, 0, 1])) == pytest.approx(1 / np.log(2), rel=1e-4)
