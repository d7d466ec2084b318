"""Choosers by their formulas, and the state that they are given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from drgst.decide.labels.choosers import (
    ClassBalanced,
    ClassLimit,
    HalfRandom,
    InformationGain,
    Margin,
    Medoids,
    Random,
    Switch,
    VarianceReduction,
    weighted_gram,
)
from drgst.decide.labels.registry import chooser_note, default_chooser
from drgst.decide.labels.state import Choice, Chooser, LabelState, nearest, represents

ANGLES = np.array([*(0.0, 0.01, 0.02, 0.3), *(2.0, 2.01, 2.02, 2.3), *(4.0, 4.01, 4.02, 4.3)])
BUNDLES = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)  # three bundles of four nodes on the unit circle


def bundles(labelled: list[int] | None = None, **more: object) -> LabelState:
    known = np.array(labelled or [], dtype=np.int64)
    free = np.setdiff1d(np.arange(12), known)
    return LabelState(BUNDLES, free, known, np.random.default_rng(0), **more)  # type: ignore[arg-type]


def state(seed: int) -> LabelState:
    """Twelve candidates: eight are predicted as class 0, of falling confidence, four as class 1."""
    top = np.concatenate([np.linspace(0.99, 0.6, 8), np.linspace(0.55, 0.9, 4)])
    p = np.stack([np.where(np.arange(12) < 8, top, 1 - top), np.where(np.arange(12) < 8, 1 - top, top)], axis=1)
    z = np.random.default_rng(0).standard_normal((12, 3))
    return LabelState(z, np.arange(12), np.empty(0, np.int64), np.random.default_rng(seed), p)


@pytest.mark.parametrize("chooser", [Random(), ClassBalanced()])
def test_probability_is_the_share_of_draws(chooser: Chooser) -> None:
    """Over 3,000 draws each node is chosen as often as its probability says."""
    hits, stated = np.zeros(12), np.full(12, np.nan)
    for seed in range(3_000):
        found = chooser(state(seed), 4)
        hits[found.nodes] += 1
        stated[found.nodes] = found.probability
    np.testing.assert_allclose(hits / 3_000, stated, atol=0.035)
    assert stated.sum() == pytest.approx(4, abs=1e-6)


def test_medoids_are_typical_nodes_of_each_bundle() -> None:
    assert sorted(u // 4 for u in Medoids()(bundles(), 3).nodes) == [0, 1, 2]
    assert not np.isin(Medoids()(bundles(), 3).nodes, [3, 7, 11]).any()


def test_gain_takes_the_typical_upper_half_of_each_cluster() -> None:
    """The bundle with the largest gain first, and of it not the outlier of largest gain."""
    gain = np.array([1, 5, 5, 6, 0.5, 2, 2, 3, 2, 9, 9, 10.0])
    found = InformationGain()(bundles(probabilities=np.full((12, 2), 0.5), gain=gain), 3).nodes
    assert [u // 4 for u in found] == [2, 0, 1]
    assert gain[found].tolist() == [9, 5, 2]


def test_entropy_where_there_is_no_gain() -> None:
    p = np.stack([np.linspace(0.5, 1, 12), np.linspace(0.5, 0, 12)], axis=1)
    for gain in (np.zeros(12), np.full(12, np.nan), None):
        scores = InformationGain().scores(bundles(probabilities=p, gain=gain))
        assert (np.diff(scores) < 0).all()
    assert Margin()(bundles(probabilities=p), 3).nodes.tolist() == [0, 1, 2]


def first(state: LabelState, n: int) -> Choice:
    return Choice.of(state.candidates[:n])


def last(state: LabelState, n: int) -> Choice:
    return Choice.of(state.candidates[-n:])


def labelled_state(labelled: int, known: bool = True) -> LabelState:
    p = np.full((30, 2), 0.5) if known else None
    return LabelState(np.eye(30), np.arange(20, 30), np.arange(labelled), np.random.default_rng(0), p)


@pytest.mark.parametrize(("labelled", "expected"), [(6, [20, 21]), (11, [20, 21]), (12, [28, 29]), (20, [28, 29])])
def test_switch_at_six_labels_per_class(labelled: int, expected: list[int]) -> None:
    """Two classes: the first up to 11 labels, the other from 12."""
    assert Switch(first, last)(labelled_state(labelled), 2).nodes.tolist() == expected


def test_chooser_by_recipe() -> None:
    """A recipe without a measured chooser suggests a class-balanced random sample, and says so."""
    assert {default_chooser(name, 20) for name in ("drgst-plus", "gcn", "drgst-de")} == {"typical-first"}
    assert default_chooser("drgst-plus", 19) == "half-random"
    assert default_chooser("own", 0) == "balanced"
    assert "no chooser was measured" in chooser_note("own", "balanced")
    assert "above those of a random sample" in chooser_note("drgst-plus", "typical-first")
    assert chooser_note("drgst-plus", "margin").startswith("Chosen by margin")


@pytest.mark.parametrize(("sampled", "n", "drawn"), [(0, 5, 3), (0, 1, 1), (19, 6, 1), (20, 6, 0)])
def test_half_of_the_nodes_are_random_until_20_labels_are(sampled: int, n: int, drawn: int) -> None:
    state = replace(labelled_state(2), sampled=sampled)
    found = HalfRandom(last)(state, n)
    assert found.random.tolist() == [True] * drawn + [False] * (n - drawn)
    assert np.unique(found.nodes).size == n
    np.testing.assert_allclose(found.probability[:drawn], drawn / state.candidates.size)


def test_samples_with_unequal_probabilities_are_not_simple() -> None:
    assert not Choice.of(np.arange(3), np.array([0.1, 0.2, np.nan])).random.any()
    assert Choice.of(np.arange(3), np.array([0.1, 0.1, np.nan])).random.tolist() == [True, True, False]


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


def test_uncertainty() -> None:
    p = np.array([[1.0, 0.0], [0.5, 0.5]])
    state = LabelState(np.ones((2, 1)), np.arange(2), np.empty(0, np.int64), np.random.default_rng(0), p)
    np.testing.assert_allclose(state.uncertainty, [0, 0.5])
    assert line([]).uncertainty.tolist() == [1.0] * 10


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
