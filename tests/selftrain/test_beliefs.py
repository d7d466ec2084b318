"""Beliefs and PseudoLabels: what parts are handed and what they hand back."""

from __future__ import annotations

import numpy as np
import pytest

from drgst.selftrain.beliefs import PseudoLabels


def test_what_follows_from_the_logits(beliefs) -> None:
    p = beliefs.probabilities
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(beliefs.predictions, p.argmax(axis=1))
    np.testing.assert_array_equal(beliefs.confidence, p.max(axis=1))
    ordered = np.sort(p, axis=1)
    np.testing.assert_allclose(beliefs.margin, ordered[:, -1] - ordered[:, -2])


def test_labels_of_test_and_pool_are_hidden(beliefs, world) -> None:
    """A part can't read what it must not know: -1 on test and pool nodes."""
    labels = beliefs.graph.labels
    assert (labels[world.split.test] == -1).all()
    assert (labels[world.split.pool] == -1).all()
    np.testing.assert_array_equal(labels[world.split.train], world.graph.labels[world.split.train])
    np.testing.assert_array_equal(beliefs.train_labels, world.graph.labels[world.split.train])
    with pytest.raises(ValueError, match="read-only"):
        labels[0] = 1


def test_chosen_is_sorted_with_its_labels() -> None:
    pseudo = PseudoLabels.of(np.array([5, 2, 9]), np.array([0, 1, 2]))
    np.testing.assert_array_equal(pseudo.nodes, [2, 5, 9])
    np.testing.assert_array_equal(pseudo.labels, [1, 0, 2])


def test_joined_keeps_the_earlier_label() -> None:
    both = PseudoLabels.of(np.array([1, 3]), np.array([0, 0])).union(
        PseudoLabels.of(np.array([3, 2]), np.array([1, 1]))
    )
    np.testing.assert_array_equal(both.nodes, [1, 2, 3])
    np.testing.assert_array_equal(both.labels, [0, 1, 0])


def test_agreement_counts_same_nodes_with_same_labels_over_the_union() -> None:
    a = PseudoLabels.of(np.array([1, 2, 3]), np.array([0, 0, 1]))
    b = PseudoLabels.of(np.array([2, 3, 4]), np.array([0, 0, 1]))
    assert a.agreement(b) == pytest.approx(1 / 4)
    assert a.agreement(a) == 1
    assert PseudoLabels.empty().agreement(PseudoLabels.empty()) == 1
    assert a.agreement(PseudoLabels.empty()) == 0
