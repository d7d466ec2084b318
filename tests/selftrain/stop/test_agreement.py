"""Convergence of pseudo-labels."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.stop.agreement import Agreement


def test_agreement(with_losses, some) -> None:
    two = with_losses([1.0, 1.0])
    changed = PseudoLabels.of(some.nodes, np.array([1, 1, 2, 0]))
    assert Agreement()(two, some) == "converged: the pseudo-labels did not change"
    assert Agreement()(two, changed) is None
    assert Agreement(0.75)(two, changed) == "converged: 75.0% of the pseudo-labels did not change"
    assert Agreement(0.76)(two, changed) is None
    assert Agreement()(with_losses([1.0]), some) is None, "the teacher had no pseudo-labels"
