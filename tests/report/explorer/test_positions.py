"""Where nodes stand: repeatable, in the square, like near like; and graphs too small for t-SNE."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.report.explorer.positions import positions


def test_repeatable_and_in_the_square() -> None:
    """The same embedding gives the same map, which fills one side of the square."""
    rows = np.random.default_rng(0).normal(size=(60, 8))
    first = positions(rows, seed=1)
    np.testing.assert_array_equal(first, positions(rows, seed=1))
    assert first.min() >= -1e-9
    assert first.max() <= 1 + 1e-9
    assert np.ptp(first, axis=0).max() == pytest.approx(1)


def test_clusters_stay_clusters() -> None:
    """Two far groups are further apart on the map than they are wide."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1, (50, 5)), rng.normal(30, 1, (50, 5))])
    place = positions(rows)
    here, there = place[:50], place[50:]
    gap = np.linalg.norm(here.mean(axis=0) - there.mean(axis=0))
    assert gap > 2 * max(here.std(axis=0).max(), there.std(axis=0).max())


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (5, 4), (9, 2)])
def test_few_nodes(shape: tuple[int, int]) -> None:
    """Principal components do; nothing is NaN."""
    place = positions(np.arange(shape[0] * shape[1], dtype=float).reshape(shape))
    assert place.shape == (shape[0], 2)
    assert np.isfinite(place).all()


def test_equal_rows() -> None:
    """An embedding that says nothing puts all nodes in the middle."""
    np.testing.assert_allclose(positions(np.ones((40, 6))), 0.5)
