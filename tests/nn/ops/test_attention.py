"""Attention's kernels against plain autograd."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from drgst.nn.inputs import Inputs
from drgst.nn.ops.attention import Edges, edge_product, edge_softmax, edges_of, gather_dots
from drgst.nn.random import generator

HEADS = 3


@pytest.fixture(params=["whole", "dropped"])
def edges(request: pytest.FixtureRequest, ring: Inputs) -> Edges:
    """Of a symmetric pattern and of one that is not."""
    adj = ring.adj if request.param == "whole" else ring.adj.drop(0.5, generator(0))
    return Edges(adj.form("loops"), HEADS)


def test_softmax_sums_to_one_and_has_the_right_gradient(edges: Edges) -> None:
    target, source = (torch.randn(HEADS, 40, requires_grad=True) for _ in range(2))
    probe = torch.randn(HEADS, edges.count)
    ours = edge_softmax(edges, target, source)
    torch.testing.assert_close(edges.sum_at(edges.rows, ours), torch.ones(HEADS, 40))
    score = F.leaky_relu(target[:, edges.rows] + source[:, edges.cols], 0.2)
    full = torch.full((HEADS, 40, 40), -torch.inf).index_put(
        (torch.arange(HEADS)[:, None], edges.rows[None], edges.cols[None]), score
    )
    plain = full.softmax(dim=2)[:, edges.rows, edges.cols]
    torch.testing.assert_close(ours, plain)
    for mine, other in zip(
        torch.autograd.grad(ours, (target, source), probe),
        torch.autograd.grad(plain, (target, source), probe),
        strict=True,
    ):
        torch.testing.assert_close(mine, other)


def test_product_and_both_gradients(edges: Edges) -> None:
    values, x = torch.randn(HEADS, edges.count, requires_grad=True), torch.randn(HEADS, 40, 2, requires_grad=True)
    probe = torch.randn(HEADS, 40, 2)
    ours = edge_product(edges, values, x)
    plain = torch.zeros(HEADS, 40, 2).index_add(1, edges.rows, values[:, :, None] * x[:, edges.cols])
    torch.testing.assert_close(ours, plain)
    for mine, other in zip(
        torch.autograd.grad(ours, (values, x), probe), torch.autograd.grad(plain, (values, x), probe), strict=True
    ):
        torch.testing.assert_close(mine, other)


def test_gathered_dots_equal_the_sparse_kernel(edges: Edges) -> None:
    left, right = torch.randn(HEADS * 40, 2), torch.randn(HEADS * 40, 2)
    kernel = torch.sparse.sampled_addmm(
        edges.matrix(torch.zeros(HEADS, edges.count)), left, right.t(), beta=0.0
    ).values()
    torch.testing.assert_close(gather_dots(edges, left, right).reshape(-1), kernel)


def test_edges_are_made_once_for_a_graph(ring: Inputs) -> None:
    matrix = ring.adj.form("loops")
    assert edges_of(matrix, 2) is edges_of(matrix, 2)
    assert edges_of(matrix, 1) is not edges_of(matrix, 2)
