"""Kernels of networks against dense computations and plain autograd: adjacency, sparse products, attention, dropout."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn
from torch.nn import functional as F

from drgst.nn.inputs import Inputs
from drgst.nn.ops.adjacency import FORMS
from drgst.nn.ops.attention import Edges, edge_product, edge_softmax, edges_of, gather_dots
from drgst.nn.ops.layers import Dropout, Linear, bias, drop, set_generator, weight
from drgst.nn.ops.sparse import SparseMatrix, gather_product, thin_product
from drgst.nn.random import generator, keep_scale, seeded_torch


def test_plain_and_loops(inputs: Inputs) -> None:
    """The other forms are tested with :mod:`drgst.transforms.propagate`."""
    a = inputs.adj.matrix.toarray()
    assert np.array_equal(inputs.adj.form("plain").scipy.toarray(), a)
    assert np.array_equal(inputs.adj.form("loops").scipy.toarray(), (a != 0) + np.eye(6))


@pytest.mark.parametrize("form", FORMS)
def test_symmetric_forms_are_marked_as_such(form: str, inputs: Inputs) -> None:
    made = inputs.adj.form(form)
    dense = made.scipy.toarray()
    assert made.symmetric == np.allclose(dense, dense.T, atol=1e-7)
    assert inputs.adj.form(form) is made  # made once


@pytest.mark.parametrize("form", FORMS)
def test_restricted_forms_are_slices_of_the_whole(form: str, ring: Inputs) -> None:
    nodes = np.array([0, 1, 2, 9, 10])
    part = ring.adj.restrict(nodes)
    whole = ring.adj.form(form).scipy.toarray()
    assert np.array_equal(part.form(form).scipy.toarray(), whole[np.ix_(nodes, nodes)])


def test_drop_acts_on_each_directed_edge_at_its_rate(ring: Inputs) -> None:
    rng = generator(0)
    kept = np.array([ring.adj.drop(0.3, rng).matrix.data > 0 for _ in range(500)])
    assert abs(kept.mean() - 0.7) < 0.01
    dropped = ring.adj.drop(0.5, rng)
    assert not dropped.symmetric
    assert (dropped.matrix != dropped.matrix.T).nnz > 0
    assert set(np.unique(ring.adj.matrix.data)) == {1.0}  # the graph itself is untouched


def test_a_dropped_graph_is_normalised_by_its_own_degrees(ring: Inputs) -> None:
    dropped = ring.adj.drop(0.5, generator(1))
    loops = dropped.matrix.toarray() + np.eye(40)
    degree = loops.sum(axis=1)
    expected = loops / np.sqrt(degree[:, None] * degree[None, :])
    np.testing.assert_allclose(dropped.sym.scipy.toarray(), expected, rtol=1e-6)


def test_hops_grow_along_the_edges(inputs: Inputs) -> None:
    for depth, expected in enumerate([[4], [3, 4], [2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]):
        assert inputs.adj.hops(np.array([4]), depth).tolist() == expected
    assert inputs.adj.hops(np.array([5, 4]), 1).tolist() == [3, 4, 5]


@pytest.fixture
def matrix() -> sp.csr_array:
    """(7, 5) with an empty row and an empty column."""
    rng = np.random.default_rng(0)
    full = rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.5)
    full[3], full[:, 2] = 0.0, 0.0
    return sp.csr_array(full.astype(np.float32))


@pytest.mark.parametrize("columns", [1, 3, 20])
def test_product_and_gradient_equal_the_dense_ones(matrix: sp.csr_array, columns: int) -> None:
    x = torch.randn(5, columns, requires_grad=True)
    probe = torch.randn(7, columns)
    y = SparseMatrix(matrix) @ x
    dense = torch.from_numpy(matrix.toarray()) @ x
    torch.testing.assert_close(y, dense)
    torch.testing.assert_close(torch.autograd.grad(y, x, probe)[0], torch.autograd.grad(dense, x, probe)[0])


def test_symmetric_matrix_serves_as_its_own_transpose(matrix: sp.csr_array) -> None:
    square = SparseMatrix((matrix @ matrix.T).tocsr(), symmetric=True)
    x = torch.randn(7, 2, requires_grad=True)
    (square @ x).sum().backward()
    torch.testing.assert_close(x.grad, torch.from_numpy(square.scipy.toarray()).T @ torch.ones(7, 2))


def test_gradient_of_columns_that_are_not_contiguous(matrix: sp.csr_array) -> None:
    x = torch.randn(5, 6, requires_grad=True)
    left, right = (x * 1.0).chunk(2, dim=1)
    y = SparseMatrix(matrix) @ right
    y.backward(torch.ones(3, 7).t())
    expected = torch.cat([torch.zeros_like(left), torch.from_numpy(matrix.toarray()).T @ torch.ones(7, 3)], dim=1)
    torch.testing.assert_close(x.grad, expected)


def test_transposed_product_in_parts_equals_the_dense_one() -> None:
    dense = np.random.default_rng(1).random((5_000, 7)).astype(np.float32)
    dense[dense < 0.5] = 0
    matrix, y = SparseMatrix(sp.csr_array(dense)), torch.randn(5_000, 3)
    assert [part.rows.stop for part in matrix.pattern] == [1_666, 3_333, 5_000]
    torch.testing.assert_close(matrix.transposed_product(y), torch.from_numpy(dense).T @ y, rtol=1e-4, atol=1e-4)
    halved = matrix.with_values(matrix.scipy.data / 2)
    assert halved.pattern is matrix.pattern
    torch.testing.assert_close(halved.transposed_product(y), matrix.transposed_product(y) / 2)


def test_gather_product_equals_the_csr_product(matrix: sp.csr_array) -> None:
    csr, x = SparseMatrix(matrix).forward_csr, torch.randn(5, 4)
    torch.testing.assert_close(gather_product(csr, x), csr @ x)


def test_rows_block_and_values(matrix: sp.csr_array) -> None:
    dense, pick = matrix.toarray(), np.array([4, 0])
    assert np.array_equal(SparseMatrix(matrix).rows(pick).scipy.toarray(), dense[pick])
    square = sp.csr_array(dense[:5])
    assert np.array_equal(SparseMatrix(square).block(pick).scipy.toarray(), dense[:5][np.ix_(pick, pick)])
    doubled = SparseMatrix(square, symmetric=True).with_values(square.data * 2)
    assert np.array_equal(doubled.scipy.toarray(), 2 * dense[:5])
    assert not doubled.symmetric


def test_pruned_rows_and_gradients_are_bit_identical_where_they_are_needed(matrix: sp.csr_array) -> None:
    whole, x = SparseMatrix(matrix), torch.randn(5, 3, requires_grad=True)
    needed, differentiated = np.arange(7) % 3 < 2, np.arange(7) % 3 == 0
    pruned = whole.pruned(needed, differentiated)
    assert pruned.scipy.nnz < matrix.nnz
    y, expected = pruned @ x, whole @ x
    assert torch.equal(y[needed], expected[needed])
    assert not y[~needed].any()
    probe = torch.randn(7, 3) * torch.from_numpy(differentiated)[:, None]
    assert torch.equal(torch.autograd.grad(y, x, probe)[0], torch.autograd.grad(expected, x, probe)[0])
    assert whole.pruned(np.ones(7, dtype=bool), np.ones(7, dtype=bool)) is whole


@pytest.mark.parametrize("columns", [3, 40])
def test_thin_product_and_gradients(matrix: sp.csr_array, columns: int) -> None:
    x, w = torch.randn(6, 5, requires_grad=True), torch.randn(5, columns, requires_grad=True)
    probe = torch.randn(6, columns)
    ours, plain = thin_product(x, w), x @ w
    torch.testing.assert_close(ours, plain)
    for mine, other in zip(
        torch.autograd.grad(ours, (x, w), probe), torch.autograd.grad(plain, (x, w), probe), strict=True
    ):
        torch.testing.assert_close(mine, other)
    torch.testing.assert_close(thin_product(SparseMatrix(matrix), w), torch.from_numpy(matrix.toarray()) @ w)


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
