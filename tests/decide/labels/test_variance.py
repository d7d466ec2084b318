"""Variance reduction against the variances themselves."""

from __future__ import annotations

import numpy as np

from drgst.decide.labels.state import LabelState
from drgst.decide.labels.variance import ClassLimit, VarianceReduction, weighted_gram

NOISE = 0.1


def total_variance(z: np.ndarray, known: list[int], w: np.ndarray) -> float:
    """Σ_i w_i z_iᵀ (I + Σ_l z_l z_lᵀ / λ)^-1 z_i."""
    sigma = np.linalg.inv(np.eye(z.shape[1]) + z[known].T @ z[known] / NOISE)
    return float(w @ np.einsum("nd,de,ne->n", z, sigma, z))


def test_each_node_lowers_the_variance_most() -> None:
    """Greedy over all candidates, with the variances computed anew."""
    rng = np.random.default_rng(0)
    z, p = rng.standard_normal((40, 6)), rng.dirichlet(np.ones(3), 40)
    state = LabelState(z, np.arange(5, 40), np.arange(5), rng, p)
    found = VarianceReduction(NOISE, target=1.0)(state, 6).nodes.tolist()
    known, expected = list(range(5)), []
    for _ in range(6):
        left = [u for u in range(5, 40) if u not in expected]
        best = min(left, key=lambda u: total_variance(z, [*known, *expected, u], state.uncertainty))
        expected.append(best)
    assert found == expected


def test_uncertain_targets_attract() -> None:
    """Two bundles, of which one is certain: the labels go to the other."""
    z = np.repeat(np.eye(2), 10, axis=0)
    p = np.array([[0.999, 0.001]] * 10 + [[0.5, 0.5]] * 10)
    state = LabelState(z, np.arange(20), np.empty(0, np.int64), np.random.default_rng(0), p)
    assert (VarianceReduction(target=1.0)(state, 3).nodes >= 10).all()
    assert set(VarianceReduction()(state, 2).nodes // 10) == {0, 1}


def test_a_part_of_many_candidates_is_compared() -> None:
    rng = np.random.default_rng(0)
    z = rng.standard_normal((100, 3))
    state = LabelState(z, np.arange(100), np.empty(0, np.int64), np.random.default_rng(0))
    found = VarianceReduction(most=10)(state, 10).nodes
    assert len(set(found.tolist())) == 10
    np.testing.assert_allclose(weighted_gram(z, np.arange(100.0)), (z * np.arange(100.0)[:, None]).T @ z)


def test_doubtful_labels_tell_less() -> None:
    """Two nodes with the same representation: the one whose label is certain is chosen."""
    z = np.repeat(np.eye(2), 10, axis=0)
    p = np.full((20, 2), 0.5)
    p[[3, 15]] = [0.99, 0.01]
    state = LabelState(z, np.arange(20), np.empty(0, np.int64), np.random.default_rng(0), p)
    assert set(VarianceReduction(doubt=10.0)(state, 2).nodes.tolist()) == {3, 15}


def test_classes_are_balanced_while_there_are_candidates() -> None:
    """Given and new labels together: class 1 has all given ones, so class 0 and 2 are asked for first."""
    rng = np.random.default_rng(0)
    z, predicted = rng.standard_normal((60, 8)), np.repeat([1, 0, 1, 2], [6, 4, 40, 10])
    p = np.eye(3)[predicted] * 0.7 + 0.1
    state = LabelState(z, np.arange(6, 60), np.arange(6), rng, p)
    chooser = VarianceReduction(balanced=True)
    counts = [np.bincount(predicted[chooser(state, n).nodes], minlength=3).tolist() for n in (4, 12)]
    assert counts[0][1] == 0
    assert counts[1] == [4, 2, 6]  # class 0 has no more


def test_the_limit_of_a_class_is_rounded_up() -> None:
    """⌈(1 + 4) / 3⌉ = 2 labels of a predicted class: the second is allowed, a third is not."""
    p = np.eye(3)[[0, 0, 0, 1, 2]] * 0.7 + 0.1
    limit = ClassLimit(
        LabelState(np.eye(5), np.arange(1, 5), np.arange(1), np.random.default_rng(0), p), np.arange(1, 5), 4
    )
    assert np.isfinite(limit.restrict(np.ones(4))).all()
    limit.counts[0] += 1
    assert np.isfinite(limit.restrict(np.ones(4))).tolist() == [False, False, True, True]
