"""The layer of a GCN, clean, with dropout and with dropedge (Eq. dropout, dropout_p, dropedge, dropedge_p)."""

import numpy as np
import pytest
import torch

from drgst.nn.ops.layers import set_generator
from drgst.nn.random import generator, keep_scale
from drgst.uncertainty.gain import GainSettings, estimate_gain, information_gain, sampled_gain


def softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_layer_with_dropout(small, dense_norm) -> None:
    """Eq. dropout: H^(l) = σ(𝔑(A) (H ∘ Z) W) in a training pass, with Z redrawn from the same generator.

    The kept entries are divided by 1 - p, as dropout does everywhere since 2014; the paper leaves the factor unsaid.
    """
    small.network.train()
    set_generator(small.network, generator(7))
    ours = small.network(small.inputs.x, small.inputs.adj).detach().numpy()
    small.network.eval()
    z = keep_scale(10, 0.5, generator(7)).reshape(5, 2)
    assert set(np.unique(z)) == {0.0, 2.0}
    np.testing.assert_allclose(ours, dense_norm(small.a) @ (small.hidden() * z) @ small.w2 + small.b2, atol=1e-6)


def test_mc_dropout_draws_the_last_layer_only(small, dense_norm) -> None:
    """Eq. dropout_p: P̃^t = softmax(𝔑(A) (Z^t ∘ H) W₂ + b₂) with H clean; its gain from the T masks, redrawn."""
    ours = sampled_gain(small.network, small.inputs, GainSettings("dropout", 0.25, 6), generator(3))
    rng = generator(3)
    masks = [keep_scale(10, 0.25, rng).reshape(5, 2) for _ in range(6)]
    norm = dense_norm(small.a)
    draws = np.stack([softmax(norm @ (small.hidden() * z) @ small.w2 + small.b2) for z in masks])
    np.testing.assert_allclose(ours, information_gain(torch.from_numpy(draws)).numpy(), atol=1e-6)
    assert ours.max() > 0.01, "some mask must have differed"


def test_layer_with_dropedge(small, dense_norm) -> None:
    """Eq. dropedge: 𝔑(A ∘ Z) H W with Z drawn for every directed edge on its own, loops added after the draw."""
    dropped = small.inputs.adj.drop(0.5, generator(5))
    kept = generator(5).random(8, dtype=np.float32) >= 0.5
    z = small.a.copy()
    z[small.a > 0] = kept
    np.testing.assert_array_equal(dropped.matrix.toarray(), z)
    assert (z != z.T).any(), "this draw keeps an edge in one direction only"
    ours = small.network.head(torch.from_numpy(small.hidden()).float(), dropped).detach().numpy()
    np.testing.assert_allclose(ours, dense_norm(z) @ small.hidden() @ small.w2 + small.b2, atol=1e-6)


def test_mc_dropedge_draws_the_last_layer_only(small, dense_norm) -> None:
    """Eq. dropedge_p: P̃^t = softmax(𝔑(A ∘ Z^t) H W₂ + b₂) with H from the whole A; gain from redrawn masks."""
    ours = sampled_gain(small.network, small.inputs, GainSettings("dropedge", 0.4, 6), generator(11))
    rng = generator(11)
    draws = []
    for _ in range(6):
        z = small.a.copy()
        z[small.a > 0] = rng.random(8, dtype=np.float32) >= 0.4
        draws.append(softmax(dense_norm(z) @ small.hidden() @ small.w2 + small.b2))
    np.testing.assert_allclose(ours, information_gain(torch.from_numpy(np.stack(draws))).numpy(), atol=1e-6)
    assert ours[:4].max() > 1e-3
    assert ours[4] == pytest.approx(0, abs=1e-7), "a node without edges has nothing to lose"


@pytest.mark.parametrize("kind", ["dropout", "dropedge", "both"])
@pytest.mark.parametrize("estimator", ["sampled", "closed"])
def test_drop_rate_zero_gives_gain_zero(small, kind: str, estimator: str) -> None:
    """p = 0: every sample is the same network, so B = 0 exactly."""
    settings = GainSettings(kind, 0.0, 5, estimator)
    np.testing.assert_array_equal(estimate_gain(small.network, small.inputs, settings, generator(0)), np.zeros(5))
