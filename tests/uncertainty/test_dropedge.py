"""Dropedge without sampling: exact moments of the degrees, all samples of a small graph, the delta method."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from drgst.uncertainty.dropedge import (
    RandomDegrees,
    dropedge_gain,
    enumerated_gain,
    inverse_degree_moments,
    normal_gain,
    normal_points,
)


def random_graph(n: int, chance: float, weighted: bool, seed: int) -> sp.csr_array:
    """A symmetric adjacency matrix; the last node has no edges."""
    rng = np.random.default_rng(seed)
    a = np.triu(rng.random((n, n)) < chance, 1) * (rng.uniform(0.3, 2.0, size=(n, n)) if weighted else 1.0)
    a[:, n - 1] = 0
    return sp.csr_array(a + a.T)


def entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(p)).sum(axis=-1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_moments_of_the_inverse_degree(weighted: bool, rate: float) -> None:
    """E[D^-½] and E[D^-1] as sums over all kept edges."""
    a = random_graph(9, 0.5, weighted, 0)
    half, one = inverse_degree_moments(a, rate)
    for node in range(9):
        weights = a.toarray()[node][a.toarray()[node] > 0]
        kept = np.array(list(itertools.product((0, 1), repeat=weights.size))).reshape(2**weights.size, weights.size)
        chance = (rate ** (1 - kept) * (1 - rate) ** kept).prod(axis=1)
        d = 1 + kept @ weights
        assert half[node] == pytest.approx(chance @ d**-0.5, rel=1e-5)
        assert one[node] == pytest.approx(chance @ (1 / d), rel=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_all_samples_of_a_small_graph(weighted: bool, rate: float) -> None:
    """The gain over all 2^10 states of a path with a triangle, each with its probability: within 5 %."""
    pairs = [(0, 1), (1, 2), (2, 3), (1, 3), (3, 4)]
    rng = np.random.default_rng(1)
    dense = np.zeros((6, 6))
    for i, j in pairs:
        dense[i, j] = dense[j, i] = rng.uniform(0.5, 1.5) if weighted else 1.0
    m, bias = rng.normal(size=(6, 3)), rng.normal(size=3)
    rows, cols = np.nonzero(dense)
    mean, entropies = np.zeros((6, 3)), np.zeros(6)
    for state in itertools.product((0, 1), repeat=rows.size):
        kept = np.array(state)
        loops = np.eye(6)
        loops[rows, cols] = dense[rows, cols] * kept
        root = loops.sum(axis=1) ** -0.5
        z = root[:, None] * loops * root @ m + bias
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        chance = rate ** (1 - kept).sum() * (1 - rate) ** kept.sum()
        mean += chance * p
        entropies += chance * entropy(p)
    ours = dropedge_gain(m, bias, sp.csr_array(dense), rate)
    np.testing.assert_allclose(ours, entropy(mean) - entropies, rtol=0.05, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_normal_form_is_the_delta_method_where_degrees_are_high(seed: int) -> None:
    """½ [Σ_c q_c Σ_cc - qᵀ Σ q] with Σ = p(1-p) Σ_e J_e J_eᵀ, J = ∂z/∂Z_e at Z = 1 - p, by autograd."""
    rate, n = 0.05, 31
    a = random_graph(n, 1.0, False, seed)
    rng = np.random.default_rng(seed)
    m, bias = rng.normal(size=(n, 3)), rng.normal(size=3)
    dense, product = torch.from_numpy(a.toarray()), torch.from_numpy(m)

    def logits(z: torch.Tensor) -> torch.Tensor:
        loops = dense * z + torch.eye(n, dtype=torch.float64)
        root = loops.sum(dim=1) ** -0.5
        return root[:, None] * loops * root[None, :] @ product + torch.from_numpy(bias)

    at = torch.full((n, n), 1 - rate, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(logits, at).reshape(n, 3, -1).numpy()
    covariance = rate * (1 - rate) * np.einsum("nce,nde->ncd", jacobian, jacobian)
    q = logits(at).softmax(dim=1).numpy()
    wanted = 0.5 * (np.einsum("nc,ncc->n", q, covariance) - np.einsum("nc,ncd,nd->n", q, covariance, q))
    layer = RandomDegrees.of(m, bias, a, rate)
    nodes = np.arange(n - 1)  # the last one has no edges
    np.testing.assert_allclose(normal_gain(layer, nodes, normal_points(4)), wanted[:-1], rtol=0.05, atol=1e-12)
    assert dropedge_gain(m, bias, a, rate)[n - 1] == 0


@pytest.mark.parametrize("dimensions", [2, 4, 10, 71])
def test_points_of_the_normal_distribution(dimensions: int) -> None:
    """Mean 0, covariance I, and on average over dimensions the fourth moment of a normal number within 0.6."""
    x = normal_points(dimensions)
    assert x.shape == (max(128, 4 * dimensions), dimensions)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(x.T @ x / len(x), np.eye(dimensions), atol=1e-10)
    assert (x**4).mean() == pytest.approx(3, abs=0.6)


@pytest.mark.parametrize(("rate", "weighted"), [(0.5, False), (0.5, True), (0.2, False)])
def test_the_normal_form_against_samples_where_logits_are_large(rate: float, weighted: bool) -> None:
    """Nodes of 7 to 20 edges, logits of ±5: within 10 % of 20,000 samples, where the second order is not."""
    a, rng = random_graph(40, 0.35, weighted, 5), np.random.default_rng(0)
    m, bias = 5 * rng.normal(size=(40, 4)), np.zeros(4)
    dense, total, entropies, count = a.toarray(), np.zeros((40, 4)), np.zeros(40), 20_000
    for _ in range(count):
        loops = dense * (rng.random((40, 40)) >= rate) + np.eye(40)
        root = loops.sum(axis=1) ** -0.5
        z = root[:, None] * loops * root @ m
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        total, entropies = total + p, entropies + entropy(np.maximum(p, 1e-300))
    nodes = np.flatnonzero(np.diff(a.indptr) > 6)
    sampled = (entropy(total / count) - entropies / count)[nodes]
    ours = dropedge_gain(m, bias, a, rate)[nodes]
    assert np.corrcoef(ours, sampled)[0, 1] > 0.98
    assert ours.mean() == pytest.approx(sampled.mean(), rel=0.1)


def test_many_nodes_of_one_degree_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of a large group of nodes do not change the result."""
    a = random_graph(40, 0.1, True, 3)
    m = np.random.default_rng(0).normal(size=(40, 4))
    whole = dropedge_gain(m, np.zeros(4), a, 0.3)
    monkeypatch.setattr("drgst.uncertainty.dropedge.CHUNK", 50)
    np.testing.assert_allclose(dropedge_gain(m, np.zeros(4), a, 0.3), whole, rtol=1e-12)
    nodes = np.flatnonzero(np.diff(a.indptr) == 2)
    layer = RandomDegrees.of(m, np.zeros(4), a, 0.3)
    np.testing.assert_allclose(enumerated_gain(layer, nodes, 2), whole[nodes], rtol=1e-12)


def test_the_degrees_of_neighbours_alone() -> None:
    """Node 0 hangs on a hub, and M_0 = √2 M_1 E[D_1^-½]: its own edge changes nothing, so only D_1 does."""
    rate, leaves = 0.3, 25
    dense = np.zeros((leaves + 2, leaves + 2))
    dense[0, 1] = dense[1, 0] = dense[1, 2:] = dense[2:, 1] = 1
    a = sp.csr_array(dense)
    m, bias = np.zeros((leaves + 2, 3)), np.array([0.2, 0.0, -0.1])
    m[1] = [6.0, -3.0, 1.0]
    m[0] = np.sqrt(2) * m[1] * inverse_degree_moments(a, rate)[0][1]
    kept = np.arange(leaves + 2)
    chance = np.array([math.comb(leaves + 1, k) * (1 - rate) ** k * rate ** (leaves + 1 - k) for k in kept.tolist()])
    z = m[1] / np.sqrt(2 * (1.0 + kept))[:, None] + m[0] / 2 + bias
    q = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    through = entropy(chance @ q) - chance @ entropy(q)
    assert dropedge_gain(m, bias, a, rate)[0] == pytest.approx((1 - rate) * through, rel=0.1)
