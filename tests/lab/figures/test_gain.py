"""Points of confidence and gain, and the shades of the map."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.lab.figures import confidence_gain
from drgst.lab.figures.embedding_gain import shade


def test_points() -> None:
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    found = confidence_gain.points("dropout", p, np.array([1.0, 2, 4]), np.array([0, 0, 1]))
    assert found.confidence.tolist() == [0.9, 0.6, 0.8]
    assert found.gain.tolist() == [1, 2, 4]
    assert found.correct.tolist() == [True, False, True]
    assert found.correlation is not None
    assert found.correlation.rho == pytest.approx(-0.5)


def test_medians_are_of_equally_many_nodes() -> None:
    confidence = np.array([0.9, 0.1, 0.2, 0.8])
    found = confidence_gain.Points("dropout", confidence, 1 - confidence, np.ones(4, bool), None)
    x, y = found.medians(2)
    assert x.tolist() == pytest.approx([0.15, 0.85])
    assert y.tolist() == pytest.approx([0.85, 0.15])


def test_shades_are_ranks() -> None:
    assert shade(np.array([5.0, 0.1, 100.0])).tolist() == [0.5, 0, 1]
