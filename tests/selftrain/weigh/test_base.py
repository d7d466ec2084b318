"""Uniform weights."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.select.threshold import Threshold
from drgst.selftrain.weigh.base import Uniform


def test_uniform(beliefs) -> None:
    weights = Uniform()(beliefs, Threshold(0.5)(beliefs))
    np.testing.assert_array_equal(weights.true, np.ones(9))
    assert (weights.pseudo == 1).all()
