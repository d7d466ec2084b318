"""Maps: the same for the same embedding, in the unit square, neighbours stay neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.report.tsne import chained_maps, positions, principal_components, sample


def test_repeatable_and_in_the_unit_square() -> None:
    """The same embedding gives the same map, which fills one side of the square."""
    rows = np.random.default_rng(0).normal(size=(60, 8))
    first = positions(rows, seed=1)
    np.testing.assert_array_equal(first, positions(rows, seed=1))
    assert first.min() >= -1e-9
    assert first.max() <= 1 + 1e-9
    assert np.ptp(first, axis=0).max() == pytest.approx(1)


def test_clusters_stay_clusters() -> None:
    """Two distant groups are further apart on the map than they are wide."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0, 1, (50, 5)), rng.normal(30, 1, (50, 5))])
    place = positions(rows)
    here, there = place[:50], place[50:]
    gap = np.linalg.norm(here.mean(axis=0) - there.mean(axis=0))
    assert gap > 2 * max(here.std(axis=0).max(), there.std(axis=0).max())


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (5, 4), (9, 2)])
def test_few_nodes(shape: tuple[int, int]) -> None:
    """The map is two principal components; nothing is NaN."""
    place = positions(np.arange(shape[0] * shape[1], dtype=float).reshape(shape))
    assert place.shape == (shape[0], 2)
    assert np.isfinite(place).all()


def test_equal_rows() -> None:
    """A constant embedding puts all nodes in the middle."""
    np.testing.assert_allclose(positions(np.ones((40, 6))), 0.5)


def test_principal_components_do_not_depend_on_the_sign_of_the_axes() -> None:
    """The entry of largest size is positive in each component."""
    rows = np.random.default_rng(1).normal(size=(30, 4)) * [4, 3, 2, 1]
    turned = principal_components(rows)
    np.testing.assert_allclose(np.abs(principal_components(-rows)), np.abs(turned), atol=1e-9)
    for component in turned.T:
        assert component[np.abs(component).argmax()] > 0
    assert (turned.var(axis=0)[:-1] >= turned.var(axis=0)[1:]).all()


def test_a_map_that_starts_from_the_one_before_keeps_its_positions() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(c, 0.2, (40, 5)) for c in (0, 3, 6)])
    first, second = chained_maps([rows, rows + rng.normal(0, 0.02, rows.shape)])
    size = np.ptp(first, axis=0).max()
    assert np.median(np.linalg.norm(first - second, axis=1)) < 0.15 * size
    again, _ = chained_maps([rows, rows])
    assert (again == first).all()


def test_a_sample_is_sorted_and_repeatable() -> None:
    nodes = np.arange(100)
    assert (sample(nodes, 0) == nodes).all()
    drawn = sample(nodes, 0, most=10)
    assert drawn.size == 10
    assert (np.diff(drawn) > 0).all()
    assert (drawn == sample(nodes, 0, most=10)).all()
