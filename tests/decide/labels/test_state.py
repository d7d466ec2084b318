"""States and choices."""

from __future__ import annotations

import numpy as np

from drgst.decide.labels.state import Choice, LabelState, nearest, represents


def line(labelled: list[int]) -> LabelState:
    """Ten nodes on a line."""
    rest = np.setdiff1d(np.arange(10), labelled)
    return LabelState(np.arange(10.0)[:, None], rest, np.array(labelled, np.int64), np.random.default_rng(0))


def test_represents_counts_unlabelled_nodes_that_are_nearest() -> None:
    """1 and 8 are chosen, 4 is labelled: 0 and 2 belong to 1; 3 and 5 to the label; 9 and 7 to 8; 6 ties with it."""
    counts = represents(line([4]), np.array([1, 8]))
    assert counts.tolist() in ([2, 2], [2, 3])


def test_nearest_is_that_of_all_distances() -> None:
    rng = np.random.default_rng(1)
    rows, centres = rng.standard_normal((50, 3)), rng.standard_normal((7, 3))
    apart = np.linalg.norm(rows[:, None] - centres[None], axis=2)
    place, distance = nearest(rows, centres)
    np.testing.assert_array_equal(place, apart.argmin(axis=1))
    np.testing.assert_allclose(distance, apart.min(axis=1), atol=1e-7)


def test_without_moves_nodes_to_the_labelled() -> None:
    left = line([4]).without(np.array([2, 3]))
    assert left.labelled.tolist() == [2, 3, 4]
    assert left.candidates.tolist() == [0, 1, 5, 6, 7, 8, 9]
    assert left.rest.tolist() == left.candidates.tolist()


def test_uncertainty() -> None:
    p = np.array([[1.0, 0.0], [0.5, 0.5]])
    state = LabelState(np.ones((2, 1)), np.arange(2), np.empty(0, np.int64), np.random.default_rng(0), p)
    np.testing.assert_allclose(state.uncertainty, [0, 0.5])
    assert line([]).uncertainty.tolist() == [1.0] * 10


def test_choices_follow_each_other() -> None:
    both = Choice.of(np.array([3]), 0.5).then(Choice.of(np.array([1, 2])))
    assert both.nodes.tolist() == [3, 1, 2]
    assert both.probability[0] == 0.5
    assert np.isnan(both.probability[1:]).all()
