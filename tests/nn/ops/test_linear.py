"""Initialisation, and X W + b with several matrices side by side."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from drgst.nn.ops.linear import Linear, Weights, bias, weight
from drgst.nn.ops.sparse import SparseMatrix


def test_bounds_of_the_initial_weights() -> None:
    glorot, uniform = weight("glorot", 50, 100), weight("uniform", 50, 100)
    assert 0.95 * (6 / 150) ** 0.5 < glorot.abs().max() <= (6 / 150) ** 0.5
    assert 0.095 < uniform.abs().max() <= 0.1
    assert bias("glorot", 25).abs().max() == 0
    assert 0.1 < bias("uniform", 25).abs().max() <= 0.2


@pytest.mark.parametrize("start", ["glorot", "uniform"])
def test_linear_of_dense_and_sparse_rows(start: str) -> None:
    layer = Linear(4, 3, start)
    x = np.eye(5, 4, dtype=np.float32)
    expected = torch.from_numpy(x) @ layer.weight + layer.bias
    torch.testing.assert_close(layer(torch.from_numpy(x)), expected)
    torch.testing.assert_close(layer(SparseMatrix(sp.csr_array(x))), expected)


def test_parts_are_initialised_and_multiplied_one_by_one() -> None:
    torch.manual_seed(0)
    alone = [weight("glorot", 4, 3) for _ in range(2)]
    torch.manual_seed(0)
    both = Weights(4, 3, parts=2)
    x = torch.randn(5, 4)
    assert both.bias.shape == (3,)
    for part, single in zip(both.split(x), alone, strict=True):
        torch.testing.assert_close(part, x @ single)
