"""Balance by hand."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.weigh.class_balance import ClassBalance, balanced


def test_balance_by_hand(beliefs: Beliefs) -> None:
    """Three of class 0 and one of class 2: 4 / (2 · 3) each and 4 / (2 · 1); mean 1."""
    weights = balanced(np.array([0, 0, 0, 2]), 3)
    np.testing.assert_allclose(weights, [2 / 3, 2 / 3, 2 / 3, 2])
    assert balanced(np.empty(0, np.int64), 3).size == 0
    pseudo = PseudoLabels.of(np.array([30, 31, 32, 33]), np.array([0, 0, 0, 2]))
    made = ClassBalance()(beliefs, pseudo)
    np.testing.assert_allclose(made.pseudo, weights)
    assert (made.true == 1).all()
