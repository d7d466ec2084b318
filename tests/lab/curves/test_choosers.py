"""The choosers of learning curves: uncertain nodes and far nodes on a small picture."""

from __future__ import annotations

import numpy as np

from drgst.decide.labels.state import LabelState
from drgst.lab.curves.choosers import Entropy, KCenter

ANGLES = np.array([*(0.0, 0.01, 0.02, 0.3), *(2.0, 2.01, 2.02, 2.3), *(4.0, 4.01, 4.02, 4.3)])
BUNDLES = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)  # three bundles of four nodes on the unit circle
P = np.stack([np.linspace(0.5, 1, 12), np.linspace(0.5, 0, 12)], axis=1)


def bundles(labelled: list[int] | None = None, **more: object) -> LabelState:
    known = np.array(labelled or [], dtype=np.int64)
    free = np.setdiff1d(np.arange(12), known)
    return LabelState(BUNDLES, free, known, np.random.default_rng(0), **more)  # type: ignore[arg-type]


def test_k_center_takes_the_farthest() -> None:
    found = KCenter()(bundles([0]), 2).nodes
    assert sorted(u // 4 for u in found) == [1, 2]


def test_entropy_takes_the_least_certain() -> None:
    assert Entropy()(bundles(probabilities=P), 3).nodes.tolist() == [0, 1, 2]
