"""Streamed gain equals stacked gain, at the cost of one (N, C) array."""

from __future__ import annotations

import numpy as np
import torch

from drgst.uncertainty.entropy import GainStream, entropy, information_gain


def test_streaming_equals_stacking() -> None:
    """One by one, or H[mean] - mean H over a (T, N, C) stack in NumPy."""
    p = np.random.default_rng(0).dirichlet(np.ones(5), size=(50, 30))
    stacked = -(m := p.mean(axis=0)) * np.log(m)
    wanted = stacked.sum(axis=1) + (p * np.log(p)).sum(axis=2).mean(axis=0)
    stream = GainStream(30, 5)
    for sample in torch.from_numpy(p):
        stream.add(sample)
    np.testing.assert_allclose(stream.gain.numpy(), wanted, rtol=1e-9)
    np.testing.assert_allclose(information_gain(torch.from_numpy(p)).numpy(), wanted, rtol=1e-9)


def test_order_of_samples_does_not_matter() -> None:
    """A sum in float64 of float32 samples agrees to rounding whatever comes first."""
    p = torch.from_numpy(np.random.default_rng(1).dirichlet(np.ones(4), size=(40, 10))).float()
    np.testing.assert_allclose(information_gain(p).numpy(), information_gain(p.flip(0)).numpy(), atol=1e-12)


def test_a_stream_keeps_one_array_however_many_samples() -> None:
    """State is (N, C) and (N,), before and after 30 samples."""
    stream = GainStream(6, 3)
    for _ in range(30):
        stream.add(torch.full((6, 3), 1 / 3))
    assert stream.total.shape == (6, 3)
    assert stream.entropies.shape == (6,)
    assert stream.count == 30


def test_probabilities_of_exactly_zero_and_one() -> None:
    """0 log 0 = 0, never NaN."""
    p = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    assert torch.equal(entropy(p), torch.zeros(2))
    assert not information_gain(p.unsqueeze(0)).isnan().any()
