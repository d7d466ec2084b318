"""Differentiable sparse and thin matrix products that are fast on a CPU.

For Y = S X with constant S the only gradient is dX = Sᵀ dY, so a matrix holds its transpose and autograd does not
differentiate through the sparse side. The CSR kernel of torch with 32-bit indices is the fastest in a plain install.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.transforms.products import csr_tensor

PART_ROWS = 2_048  # of the dense side of a transposed product: 64 columns of them are 0.5 MB, which a cache holds
PART_ENTRIES = 32  # per row of such a part, at least; with fewer, parts cost more than the cache saves


class SparseMatrix:
    """A constant (R, C) float32 matrix with its transpose: ``S @ x`` is differentiable in ``x``."""

    def __init__(self, matrix: sp.csr_array, device: torch.device | str = "cpu", symmetric: bool = False) -> None:
        self.scipy = matrix
        self.device = torch.device(device)
        self.symmetric = symmetric
        self.differentiated = matrix  # the entries that a gradient passes
        self._pattern: list[_TransposedPart] | None = None
        self._derived: dict[Hashable, Any] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self.scipy.shape

    @cached_property
    def forward_csr(self) -> Tensor:
        return _to_torch_csr(self.scipy, self.device)

    def transposed_product(self, dense: Tensor) -> Tensor:
        """Sᵀ Y, (C, D), of the entries that a gradient passes."""
        if self.symmetric:
            return multiply(self.forward_csr, dense)
        if len(self._transposed) == 1:
            return multiply(self._transposed[0], dense)
        product = dense.new_zeros(self.shape[1], dense.shape[1])
        for part, matrix in zip(self.pattern, self._transposed, strict=True):
            torch.addmm(product, matrix, dense[part.rows], out=product)
        return product

    @cached_property
    def _transposed(self) -> list[Tensor]:
        return [part.with_values(self.differentiated.data, self.device) for part in self.pattern]

    @property
    def pattern(self) -> list[_TransposedPart]:
        """Sᵀ without its values; on the CPU of blocks of the rows of S where they have many entries per column."""
        if self._pattern is None:
            parts = -(-self.shape[0] // PART_ROWS) if self.device.type == "cpu" else 1
            long_enough = self.differentiated.nnz >= PART_ENTRIES * parts * self.shape[1]
            self._pattern = _transposed_parts(self.differentiated, parts if long_enough else 1)
        return self._pattern

    def derived(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What ``make`` computes from this matrix: computed once and kept as long as the matrix."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def rows(self, index: np.ndarray) -> SparseMatrix:
        return SparseMatrix(self.scipy[index], self.device)

    def block(self, index: np.ndarray) -> SparseMatrix:
        return SparseMatrix(self.scipy[index][:, index], self.device, self.symmetric)

    def pruned(self, rows: np.ndarray, differentiated: np.ndarray) -> SparseMatrix:
        """S with zeros in all rows but ``rows``, for a loss that depends on ``differentiated`` alone; (R,) masks.

        The kept rows of S X and the gradient Sᵀ dY are bit-identical to those of S: the entries that are left out would
        be multiplied by zeros. Returns S itself where they are fewer than a tenth.
        """
        counts = np.diff(self.scipy.indptr)
        if counts[rows].sum() + counts[differentiated].sum() > 1.8 * self.scipy.nnz:
            return self
        found = SparseMatrix(_masked(self.scipy, rows), self.device)
        found.differentiated = _masked(self.scipy, differentiated)
        return found

    def with_values(self, values: np.ndarray, symmetric: bool = False) -> SparseMatrix:
        """A matrix with the same pattern and other values."""
        changed = sp.csr_array((values, self.scipy.indices, self.scipy.indptr), shape=self.scipy.shape)
        found = SparseMatrix(changed, self.device, symmetric)
        if not symmetric and self.differentiated is self.scipy:
            found._pattern = self.pattern  # dropout of features changes the values in every epoch
        return found

    def __matmul__(self, dense: Tensor) -> Tensor:
        return _Product.apply(self, dense)


Hidden = Tensor | SparseMatrix  # node features or a hidden layer, (N, D)


@dataclass(frozen=True)
class _TransposedPart:
    """S[rows]ᵀ as CSR without values."""

    rows: slice
    crow: Tensor
    col: Tensor
    order: np.ndarray  # of the values of S
    shape: tuple[int, int]

    def with_values(self, values: np.ndarray, device: torch.device) -> Tensor:
        """S[rows]ᵀ as a torch tensor, for all values of S."""
        data = torch.from_numpy(np.asarray(values[self.order], dtype=np.float32))
        return csr_tensor(self.crow, self.col, data, self.shape).to(device)


def _transposed_parts(matrix: sp.csr_array, parts: int) -> list[_TransposedPart]:
    """The transposes of ``parts`` blocks of rows of about the same number."""
    bounds, found = np.linspace(0, matrix.shape[0], parts + 1).astype(np.int64), []
    for first, last in pairwise(bounds.tolist()):
        low, high = matrix.indptr[first], matrix.indptr[last]
        places = (np.arange(low, high), matrix.indices[low:high], matrix.indptr[first : last + 1] - low)
        block = sp.csr_array(places, shape=(last - first, matrix.shape[1])).tocsc()
        crow, col = (torch.from_numpy(part.astype(np.int32)) for part in (block.indptr, block.indices))
        found.append(_TransposedPart(slice(first, last), crow, col, block.data, block.shape[::-1]))
    return found


class _Product(torch.autograd.Function):
    """Y = S X; dX = Sᵀ dY."""

    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor) -> Tensor:
        ctx.matrix = matrix
        return multiply(matrix.forward_csr, dense)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix.transposed_product(grads[0])


class _Thin(torch.autograd.Function):
    """Y = X W as (Wᵀ Xᵀ)ᵀ, which is five times faster in BLAS if W has 3 to 8 columns."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return (weight.t().contiguous() @ x.t()).t().contiguous()  # of 3 columns twice as fast as with a view

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor]:
        x, weight = ctx.saved_tensors
        grad = grads[0]
        dx = grad @ weight.t() if ctx.needs_input_grad[0] else None
        return dx, (grad.t() @ x).t()


def thin_product(x: Hidden, weight: Tensor) -> Tensor:
    """X W for sparse or dense X, by a faster product if W has few columns."""
    if isinstance(x, SparseMatrix):
        return x @ weight
    return _Thin.apply(x, weight) if weight.shape[1] < 16 else x @ weight


def multiply(matrix: Tensor, dense: Tensor) -> Tensor:
    """S X for a torch CSR matrix, without a gradient; by gather and add on MPS, which has no sparse kernel."""
    if dense.device.type == "mps":
        return gather_product(matrix, dense)
    if dense.device.type != "cpu":
        return matrix @ dense.contiguous()
    product = dense.new_empty(matrix.shape[0], dense.shape[1])  # S @ X would fill it with zeros and copy them first
    return torch.addmm(product, matrix, dense.contiguous(), beta=0, out=product)


def gather_product(matrix: Tensor, dense: Tensor) -> Tensor:
    """S X as the sum over entries e of s_e x_col(e) in row(e), without a sparse kernel."""
    messages = matrix.values().unsqueeze(1) * dense[matrix.col_indices().long()]
    rows = csr_rows(matrix)
    return torch.zeros(matrix.shape[0], dense.shape[1], device=dense.device).index_add_(0, rows, messages)


def csr_rows(matrix: Tensor) -> Tensor:
    """The row of each stored value of a torch CSR matrix."""
    rows = torch.arange(matrix.shape[0], device=matrix.device)
    return torch.repeat_interleave(rows, matrix.crow_indices().diff().long(), output_size=matrix.values().numel())


def _masked(matrix: sp.csr_array, rows: np.ndarray) -> sp.csr_array:
    """The matrix without the entries of all rows but ``rows``, an (R,) mask."""
    counts = np.diff(matrix.indptr)
    kept = np.repeat(rows, counts)
    indptr = np.concatenate([[0], np.cumsum(counts * rows)]).astype(matrix.indptr.dtype)
    return sp.csr_array((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)


def _to_torch_csr(matrix: sp.csr_array, device: torch.device) -> Tensor:
    crow, col = (torch.from_numpy(part.astype(np.int32)) for part in (matrix.indptr, matrix.indices))
    values = torch.from_numpy(np.array(matrix.data, dtype=np.float32))
    return csr_tensor(crow, col, values, matrix.shape).to(device)
