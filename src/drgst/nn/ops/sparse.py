"""Sparse and thin products that are quick on a CPU and differentiable.

Y = S X with S constant: the only gradient is dX = Sᵀ dY, so a matrix carries its transpose and autograd never
touches the sparse side. torch's CSR kernel with 32-bit indices is the quickest that a plain install has.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


class SparseMatrix:
    """A constant (R, C) float32 matrix with its transpose: ``S @ x`` is differentiable in ``x``."""

    def __init__(self, matrix: sp.csr_array, device: torch.device | str = "cpu", symmetric: bool = False) -> None:
        self.scipy = matrix
        self.device = torch.device(device)
        self.symmetric = symmetric

    @property
    def shape(self) -> tuple[int, int]:
        """(R, C)."""
        return self.scipy.shape

    @cached_property
    def forward_csr(self) -> Tensor:
        """S as a torch tensor."""
        return to_torch_csr(self.scipy, self.device)

    @cached_property
    def backward_csr(self) -> Tensor:
        """Sᵀ as a torch tensor; S itself where it is symmetric."""
        return self.forward_csr if self.symmetric else to_torch_csr(self.scipy.T.tocsr(), self.device)

    def rows(self, index: np.ndarray) -> SparseMatrix:
        """S[index, :]."""
        return SparseMatrix(self.scipy[index], self.device)

    def block(self, index: np.ndarray) -> SparseMatrix:
        """S[index, index]."""
        return SparseMatrix(self.scipy[index][:, index], self.device, self.symmetric)

    def with_values(self, values: np.ndarray) -> SparseMatrix:
        """The same pattern with other values; no longer taken to be symmetric."""
        changed = sp.csr_array((values, self.scipy.indices, self.scipy.indptr), shape=self.scipy.shape)
        return SparseMatrix(changed, self.device)

    def __matmul__(self, dense: Tensor) -> Tensor:
        return _Product.apply(self, dense)


class _Product(torch.autograd.Function):
    """Y = S X; dX = Sᵀ dY."""

    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor) -> Tensor:
        ctx.matrix = matrix
        return multiply(matrix.forward_csr, dense)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        return None, multiply(ctx.matrix.backward_csr, grads[0])


class _Thin(torch.autograd.Function):
    """Y = X W for a W with few columns, written as (Wᵀ Xᵀ)ᵀ: five times quicker in BLAS at 3 to 8 columns."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return (weight.t() @ x.t()).t().contiguous()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor]:
        x, weight = ctx.saved_tensors
        grad = grads[0]
        dx = grad @ weight.t() if ctx.needs_input_grad[0] else None
        return dx, (grad.t() @ x).t()


def thin_product(x: SparseMatrix | Tensor, weight: Tensor) -> Tensor:
    """X W for sparse or dense X; the quick form where W has few columns."""
    if isinstance(x, SparseMatrix):
        return x @ weight
    return _Thin.apply(x, weight) if weight.shape[1] < 16 else x @ weight


def multiply(matrix: Tensor, dense: Tensor) -> Tensor:
    """S X for a torch CSR matrix; by gather and add where the device has no sparse kernel (MPS)."""
    if dense.device.type != "mps":
        return matrix @ dense.contiguous()
    return gather_product(matrix, dense)


def gather_product(matrix: Tensor, dense: Tensor) -> Tensor:
    """S X as Σ_e s_e x_col(e) added to row(e): no sparse kernel needed."""
    counts = matrix.crow_indices().diff()
    rows = torch.repeat_interleave(torch.arange(matrix.shape[0], device=dense.device), counts)
    messages = matrix.values().unsqueeze(1) * dense[matrix.col_indices().long()]
    return torch.zeros(matrix.shape[0], dense.shape[1], device=dense.device).index_add_(0, rows, messages)


def to_torch_csr(matrix: sp.csr_array, device: torch.device) -> Tensor:
    """A scipy CSR matrix as a torch CSR tensor with 32-bit indices."""
    with warnings.catch_warnings():  # torch calls its CSR support a beta state on each construction
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int32)),
            torch.from_numpy(matrix.indices.astype(np.int32)),
            torch.from_numpy(np.array(matrix.data, dtype=np.float32)),
            size=matrix.shape,
            check_invariants=False,
        ).to(device)
