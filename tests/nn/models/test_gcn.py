"""GCN, SGC and ChebNet against their dense formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

Build = Callable[..., Any]


def test_gcn(build: Build, check_formula: Callable[..., None], dense_sym: Callable[[Tensor], Tensor]) -> None:
    def formula(net: Any, x: Tensor, a: Tensor) -> Tensor:
        h = torch.relu(dense_sym(a) @ x @ net.weight1 + net.bias1)
        return dense_sym(a) @ h @ net.weight2 + net.bias2

    check_formula(build("gcn"), formula)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_sgc(
    hops: int, build: Build, check_formula: Callable[..., None], dense_sym: Callable[[Tensor], Tensor]
) -> None:
    def formula(net: Any, x: Tensor, a: Tensor) -> Tensor:
        return torch.linalg.matrix_power(dense_sym(a), hops) @ x @ net.last.weight + net.last.bias

    check_formula(build("sgc", hops=hops), formula)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_cheb(order: int, build: Build, check_formula: Callable[..., None]) -> None:
    check_formula(build("cheb", order=order), cheb)


def cheb(net: Any, x: Tensor, a: Tensor) -> Tensor:
    degree = a.sum(1)
    root = torch.diag(torch.where(degree > 0, degree, 1.0) ** -0.5)
    scaled = -root @ a @ root
    order = net.depth // 2
    polynomials = [torch.eye(len(a)), scaled]
    while len(polynomials) <= order:
        polynomials.append(2 * scaled @ polynomials[-1] - polynomials[-2])

    def layer(part: Any, h: Tensor) -> Tensor:
        terms = zip(polynomials, part.weight.chunk(order + 1, dim=1), strict=True)
        return sum((t @ h @ w for t, w in terms), start=part.bias)

    return layer(net.last, torch.relu(layer(net.first, x)))
