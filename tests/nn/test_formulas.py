"""Every network against a dense formula written out by hand, on the six-node graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from drgst.nn.inputs import Inputs

CLOSE = {"atol": 1e-5, "rtol": 1e-4}


def dense(inputs: Inputs) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(inputs.x.scipy.toarray()), torch.from_numpy(inputs.adj.matrix.toarray())


def sym(a: Tensor) -> Tensor:
    loops = a + torch.eye(len(a))
    root = torch.diag(loops.sum(1) ** -0.5)
    return root @ loops @ root


def gcn(net: Any, x: Tensor, a: Tensor) -> Tensor:
    h = torch.relu(sym(a) @ x @ net.weight1 + net.bias1)
    return sym(a) @ h @ net.weight2 + net.bias2


def sgc(net: Any, x: Tensor, a: Tensor) -> Tensor:
    return sym(a) @ sym(a) @ x @ net.last.weight + net.last.bias


def mlp(net: Any, x: Tensor) -> Tensor:
    return torch.relu(x @ net.first.weight + net.first.bias) @ net.last.weight + net.last.bias


def appnp(net: Any, x: Tensor, a: Tensor) -> Tensor:
    m = mlp(net, x)
    z = m
    for _ in range(10):
        z = 0.9 * sym(a) @ z + 0.1 * m
    return z


def ppnp(net: Any, x: Tensor, a: Tensor) -> Tensor:
    return 0.1 * torch.linalg.solve(torch.eye(len(a)) - 0.9 * sym(a), mlp(net, x))


def dagnn(net: Any, x: Tensor, a: Tensor) -> Tensor:
    m = mlp(net, x)
    hops = torch.stack([torch.linalg.matrix_power(sym(a), k) @ m for k in range(11)], dim=1)  # (N, K + 1, C)
    return (torch.sigmoid(hops @ net.gate) * hops).sum(dim=1)


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


def gat(net: Any, x: Tensor, a: Tensor) -> Tensor:
    def layer(part: Any, h: Tensor) -> Tensor:
        outputs = []
        for w, ends in zip(part.linear.weight.chunk(part.heads, dim=1), part.ends, strict=True):
            m = h @ w
            score = F.leaky_relu((m @ ends[:, 0])[:, None] + (m @ ends[:, 1])[None, :], 0.2)
            score = score.masked_fill((a == 0) & ~torch.eye(len(a), dtype=torch.bool), -torch.inf)
            outputs.append(score.softmax(dim=1) @ m)
        return torch.cat(outputs, dim=1) + part.linear.bias

    return layer(net.last, F.elu(layer(net.first, x)))


FORMULAS = {f.__name__: f for f in (gcn, sgc, appnp, ppnp, dagnn, sage, gin, cheb, gat)}


@pytest.mark.parametrize("name", FORMULAS)
def test_equals_its_dense_formula(name: str, inputs: Inputs, build: Callable[..., Any]) -> None:
    network = build(name)
    x, a = dense(inputs)
    expected = FORMULAS[name](network, x, a)
    assert torch.isfinite(expected).all()
    torch.testing.assert_close(network(inputs.x, inputs.adj), expected, **CLOSE)
    torch.testing.assert_close(network(x, inputs.adj), expected, **CLOSE)  # dense features give the same


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_equal_those_of_the_dense_formula(name: str, inputs: Inputs, build: Callable[..., Any]) -> None:
    network = build(name)
    x, a = dense(inputs)
    probe = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    parts = dict(network.named_parameters())
    ours = torch.autograd.grad((network(inputs.x, inputs.adj) * probe).sum(), list(parts.values()))
    theirs = torch.autograd.grad((FORMULAS[name](network, x, a) * probe).sum(), list(parts.values()))
    for key, mine, other in zip(parts, ours, theirs, strict=True):
        assert mine.abs().max() > 0, f"no gradient reaches {key}"
        torch.testing.assert_close(mine, other, atol=2e-5, rtol=1e-3, msg=lambda m, key=key: f"{key}: {m}")


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_cheb_of_any_order(order: int, inputs: Inputs, build: Callable[..., Any]) -> None:
    network = build("cheb", order=order)
    torch.testing.assert_close(network(inputs.x, inputs.adj), cheb(network, *dense(inputs)), **CLOSE)


def test_ppnp_is_the_limit_of_appnp(inputs: Inputs, build: Callable[..., Any]) -> None:
    exact, long = build("ppnp"), build("appnp", hops=300)
    long.load_state_dict(exact.state_dict())
    torch.testing.assert_close(exact(inputs.x, inputs.adj), long(inputs.x, inputs.adj), **CLOSE)


def test_attention_with_far_apart_scores_stays_finite(inputs: Inputs, build: Callable[..., Any]) -> None:
    network = build("gat")
    with torch.no_grad():
        network.first.ends.mul_(1e4)
    logits = network(inputs.x, inputs.adj)
    logits.sum().backward()
    torch.testing.assert_close(logits, gat(network, *dense(inputs)), **CLOSE)
    assert all(torch.isfinite(p.grad).all() for p in network.parameters())
