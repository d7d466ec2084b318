"""Comparison of a network with its dense formula, on the six-node graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from drgst.nn.inputs import Inputs

Formula = Callable[[Any, Tensor, Tensor], Tensor]


@pytest.fixture
def dense_sym() -> Callable[[Tensor], Tensor]:
    """Â = D̃^-½ (A + I) D̃^-½ of a dense A."""

    def sym(a: Tensor) -> Tensor:
        loops = a + torch.eye(len(a))
        root = torch.diag(loops.sum(1) ** -0.5)
        return root @ loops @ root

    return sym


@pytest.fixture
def check_formula(inputs: Inputs) -> Callable[[Any, Formula], None]:
    """``check_formula(network, formula)``: logits and all gradients equal those of ``formula(network, X, A)``."""

    def check(network: Any, formula: Formula) -> None:
        x, a = torch.from_numpy(inputs.x.scipy.toarray()), torch.from_numpy(inputs.adj.matrix.toarray())
        expected = formula(network, x, a)
        assert torch.isfinite(expected).all()
        ours = network(inputs.x, inputs.adj)
        torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(network(x, inputs.adj), expected, atol=1e-5, rtol=1e-4)  # dense features
        probe = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
        parts = dict(network.named_parameters())
        grads = torch.autograd.grad((ours * probe).sum(), list(parts.values()))
        wanted = torch.autograd.grad((expected * probe).sum(), list(parts.values()))
        for key, mine, other in zip(parts, grads, wanted, strict=True):
            assert mine.abs().max() > 0, f"no gradient reaches {key}"
            torch.testing.assert_close(mine, other, atol=2e-5, rtol=1e-3, msg=lambda m, key=key: f"{key}: {m}")

    return check
