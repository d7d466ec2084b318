"""Select: the paper's threshold, and nothing at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drgst.selftrain.select.base import Nothing
from drgst.selftrain.select.threshold import Threshold


def test_threshold_takes_confident_pool_nodes(beliefs, world) -> None:
    pseudo = Threshold(0.6)(beliefs)
    wanted = [u for u in world.split.pool if beliefs.probabilities[u].max() > 0.6]
    np.testing.assert_array_equal(pseudo.nodes, wanted)
    np.testing.assert_array_equal(pseudo.labels, beliefs.probabilities[wanted].argmax(axis=1))
    assert 0 < len(wanted) < world.split.pool.size


def test_threshold_is_strict(beliefs) -> None:
    """r_u > τ: a confidence of exactly τ is not enough."""
    even = replace(beliefs, logits=np.zeros((60, 2)))
    assert Threshold(0.5)(even).nodes.size == 0
    assert Threshold(0.4999)(even).nodes.size == beliefs.split.pool.size


def test_threshold_shrinks_as_it_rises(beliefs) -> None:
    sizes = [Threshold(t)(beliefs).nodes.size for t in (0.0, 0.4, 0.6, 0.8, 0.95)]
    assert sizes[0] == beliefs.split.pool.size
    assert sizes == sorted(sizes, reverse=True)


def test_nothing(beliefs) -> None:
    assert Nothing()(beliefs).nodes.size == 0
