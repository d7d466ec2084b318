"""Dropout from an explicit generator."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn

from drgst.nn.ops.dropout import Dropout, drop, set_generator
from drgst.nn.ops.sparse import SparseMatrix
from drgst.nn.random import generator, keep_scale, seeded_torch


@pytest.mark.parametrize("rate", [0.5, 0.25, 0.3, 0.999])
def test_scales_have_two_values_and_mean_one(rate: float) -> None:
    z = keep_scale(200_003, rate, generator(1))
    assert z.dtype == np.float32
    assert z.shape == (200_003,)
    values = np.unique(z)
    assert values.size == 2
    assert values[0] == 0
    assert values[1] == pytest.approx(1 / (1 - rate), rel=2e-2 if rate > 0.9 else 1e-4)
    spread = (rate / (1 - rate) / z.size) ** 0.5  # standard deviation of the mean
    assert abs(z.mean(dtype=np.float64) - 1) < 5 * spread
    assert abs((z == 0).mean() - rate) < 5 * (rate * (1 - rate) / z.size) ** 0.5


def test_the_mean_is_exact_in_expectation_when_the_rate_is_rounded() -> None:
    """0.3 is drawn as 19661/65536; the scale is the inverse of what is really kept."""
    z = keep_scale(10_000, 0.3, generator(0))
    assert z.max() == np.float32(65536 / (65536 - 19661))


@pytest.mark.parametrize("rate", [0.5, 0.25, 0.3])
def test_the_same_generator_gives_the_same_bits(rate: float) -> None:
    first, again, other = (keep_scale(1000, rate, generator(*seed)) for seed in ((3, 1), (3, 1), (3, 2)))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("rate", [0.5, 0.25, 0.3])
def test_elements_are_independent(rate: float) -> None:
    z = keep_scale(100_000, rate, generator(5))
    for lag in (1, 2, 8, 16):
        assert abs(np.corrcoef(z[:-lag], z[lag:])[0, 1]) < 0.02


def test_sparse_values_are_dropped_and_the_pattern_stays() -> None:
    x = SparseMatrix(sp.csr_array(np.eye(200, dtype=np.float32)))
    dropped = drop(x, 0.5, generator(0))
    assert isinstance(dropped, SparseMatrix)
    assert set(np.unique(dropped.scipy.toarray())) == {0.0, 2.0}
    assert np.array_equal(x.scipy.data, np.ones(200))  # the original is untouched


def test_gradient_passes_where_an_entry_is_kept() -> None:
    h = torch.ones(50, 4, requires_grad=True)
    dropped = drop(h, 0.25, generator(0))
    dropped.sum().backward()
    assert torch.equal(h.grad, dropped.detach())


def test_module_only_acts_in_training_and_needs_a_generator() -> None:
    network = nn.Sequential(nn.Linear(2, 2), Dropout(0.5))
    h = torch.ones(30, 2)
    assert network.eval()[1](h) is h
    assert Dropout(0.0).train()(h) is h
    with pytest.raises(RuntimeError, match="set_generator"):
        network.train()[1](h)
    set_generator(network, generator(0))
    assert set(network[1](h).unique().tolist()) == {0.0, 2.0}


def test_the_state_of_torchs_generator_is_restored() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    with seeded_torch(generator(0)):
        inside = torch.rand(3)
    assert torch.equal(torch.get_rng_state(), before)
    with seeded_torch(generator(0)):
        assert torch.equal(torch.rand(3), inside)
