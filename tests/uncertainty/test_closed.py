"""The closed forms: exact moments by enumeration for dropout, samples for both."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from drgst.graph.core import make_graph
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.random import generator
from drgst.uncertainty.gain import GainSettings, closed_gain, dropout_gain, estimate_gain, sampled_gain


def second_order(covariance: np.ndarray, z: np.ndarray) -> np.ndarray:
    """½ [Σ_c q_c Σ_cc - qᵀ Σ q] for covariances (N, C, C) and mean logits (N, C)."""
    q = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    own = np.einsum("nc,ncc->n", q, covariance)
    return 0.5 * (own - np.einsum("nc,ncd,nd->n", q, covariance, q))


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, 2.0)], ids=["plain", "weighted"])
def test_dropout_from_all_masks(weights: tuple[float, float]) -> None:
    """3 nodes, 2 hidden units: the covariance over all 64 masks, each with its probability, in float64."""
    a = np.array([[0, weights[0], 0], [weights[0], 0, weights[1]], [0, weights[1], 0]])
    graph = make_graph(None, a, [0, 1, 0])
    rng, rate = np.random.default_rng(0), 0.3
    h, w, b = rng.normal(size=(3, 2)), rng.normal(size=(2, 3)), rng.normal(size=3)
    loops = a + np.eye(3)
    root = loops.sum(axis=1) ** -0.5
    norm = root[:, None] * loops * root
    chances, draws = [], []
    for mask in itertools.product((0, 1), repeat=6):
        kept = np.array(mask).reshape(3, 2)
        chances.append(rate ** (6 - kept.sum()) * (1 - rate) ** kept.sum())
        draws.append(norm @ (h * kept / (1 - rate)) @ w + b)
    chance, z = np.array(chances), np.array(draws)
    mean = np.einsum("m,mnc->nc", chance, z)
    covariance = np.einsum("m,mnc,mnd->ncd", chance, z - mean, z - mean)
    ours = dropout_gain(*(torch.from_numpy(v).float() for v in (h, w, b)), Adjacency(graph.adjacency), rate)
    np.testing.assert_allclose(ours.numpy(), second_order(covariance, mean), rtol=1e-4)


@pytest.mark.parametrize(
    ("kind", "rate", "least"), [("dropout", 0.5, 0.97), ("dropedge", 0.3, 0.95), ("both", 0.2, 0.95)]
)
def test_sampled_against_closed_on_cora(trained_cora, kind: str, rate: float, least: float) -> None:
    """Pearson above 0.95 with 300 samples over all 2,708 nodes of a trained GCN, and the same size."""
    closed = closed_gain(trained_cora.network, trained_cora.inputs, kind, rate)
    sampled = sampled_gain(trained_cora.network, trained_cora.inputs, GainSettings(kind, rate, 300), generator(0))
    assert np.corrcoef(closed, sampled)[0, 1] > least
    assert closed.mean() == pytest.approx(sampled.mean(), rel=0.25)


@pytest.mark.parametrize("kind", ["dropout", "dropedge"])
def test_sampled_against_closed_on_a_weighted_graph(weighted, kind: str) -> None:
    """Weights count in both: Pearson above 0.95, and another result than without weights."""
    settings = GainSettings(kind, 0.2, 2000, "sampled")
    sampled = estimate_gain(weighted.network, weighted.inputs, settings, generator(0))
    closed = closed_gain(weighted.network, weighted.inputs, kind, 0.2)
    assert np.corrcoef(closed, sampled)[0, 1] > 0.95
    plain = weighted.graph.with_(adjacency=(weighted.graph.adjacency > 0).astype(np.float32))
    other = closed_gain(
        weighted.network,
        type(weighted.inputs)(weighted.inputs.x, Adjacency(plain.adjacency), weighted.inputs.nodes),
        kind,
        0.2,
    )
    assert np.abs(other - closed).max() > 0.05 * closed.max()


def test_both_is_the_sum_of_the_two(weighted) -> None:
    """Independent noises: their covariances, and so the second-order gains, add up."""
    parts = [closed_gain(weighted.network, weighted.inputs, kind, 0.1) for kind in ("dropout", "dropedge", "both")]
    np.testing.assert_allclose(parts[2], parts[0] + parts[1], rtol=1e-5)
