"""GraphSAGE and GIN against their dense formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Build = Callable[..., Any]


def sage(net: Any, x: Tensor, a: Tensor) -> Tensor:
    degree = a.sum(1, keepdim=True)
    mean = torch.where(degree > 0, a / degree, 0.0)

    def layer(part: Any, h: Tensor) -> Tensor:
        own, near = part.weight.chunk(2, dim=1)
        return h @ own + mean @ h @ near + part.bias

    return layer(net.last, torch.relu(layer(net.first, x)))


def gin(net: Any, x: Tensor, a: Tensor) -> Tensor:
    def layer(part: Any, h: Tensor) -> Tensor:
        m = ((1 + part.eps) * h + a @ h) @ part.inner.weight + part.inner.bias
        m = (m - m.mean(1, keepdim=True)) / (m.var(1, keepdim=True, unbiased=False) + 1e-5).sqrt()
        m = torch.relu(m * part.norm.weight + part.norm.bias)
        return m @ part.outer.weight + part.outer.bias

    return layer(net.last, torch.relu(layer(net.first, x)))


def test_sage(build: Build, check_formula: Callable[..., None]) -> None:
    check_formula(build("sage"), sage)


def test_gin(build: Build, check_formula: Callable[..., None]) -> None:
    check_formula(build("gin"), gin)
