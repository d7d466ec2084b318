"""GAT against its dense formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from drgst.nn.inputs import Inputs

Build = Callable[..., Any]


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


def test_gat(build: Build, check_formula: Callable[..., None]) -> None:
    check_formula(build("gat"), gat)


def test_attention_with_far_apart_scores_stays_finite(inputs: Inputs, build: Build) -> None:
    network = build("gat")
    with torch.no_grad():
        network.first.ends.mul_(1e4)
    x, a = torch.from_numpy(inputs.x.scipy.toarray()), torch.from_numpy(inputs.adj.matrix.toarray())
    logits = network(inputs.x, inputs.adj)
    logits.sum().backward()
    torch.testing.assert_close(logits, gat(network, x, a), atol=1e-5, rtol=1e-4)
    assert all(torch.isfinite(p.grad).all() for p in network.parameters())
