"""Weights of drgst-plus by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.weigh.anchored import Anchored


def test_anchored_by_hand(beliefs: Beliefs) -> None:
    """Gains 1 and 3 of mean 2: ½ + ½ · ½ and ½ + ½ · 1½; nine true labels share 0.3 of their sum of 2."""
    gain = np.zeros(60, dtype=np.float32)
    nodes = beliefs.split.pool[:2]
    gain[nodes] = [1, 3]
    weights = Anchored()(replace(beliefs, gain=gain), PseudoLabels(nodes, np.array([0, 1])))
    np.testing.assert_allclose(weights.pseudo, [0.75, 1.25])
    np.testing.assert_allclose(weights.true, np.full(9, 0.3 * 2 / 9))


def test_anchored_without_gain_or_where_all_gains_are_zero(beliefs: Beliefs) -> None:
    nodes = beliefs.split.pool[:6]
    pseudo = PseudoLabels(nodes, np.zeros(6, dtype=np.int64))
    alike = Anchored(share=0.5, gain=0)(beliefs, pseudo)
    np.testing.assert_allclose(alike.pseudo, 1)
    np.testing.assert_allclose(alike.true, 0.5 * 6 / 9)
    still = Anchored()(replace(beliefs, gain=np.zeros(60, dtype=np.float32)), pseudo)
    np.testing.assert_allclose(still.pseudo, 1)
