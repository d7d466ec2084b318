"""Shades of the map."""

from __future__ import annotations

import numpy as np

from drgst.lab.figures.embedding_gain import shade


def test_shades_are_ranks() -> None:
    assert shade(np.array([5.0, 0.1, 100.0])).tolist() == [0.5, 0, 1]
