"""Sparse and thin products against dense ones, gradients too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from drgst.nn.ops.sparse import SparseMatrix, gather_product, thin_product


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
