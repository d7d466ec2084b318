"""Large matrices: where they are stored, and products and sums over blocks of their rows."""

from __future__ import annotations

import mmap
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from drgst.shards import ALONE, Shards

BLOCK_BYTES = 16 * 2**20  # of a block of rows or columns: half of a common last-level cache
NARROW_BYTES = 2**19  # of a block of rows that is converted from float16 and multiplied: half of a second-level cache
MANY_ROWS = 100_000  # above which sums over blocks of rows are precise enough with float32 inside a block
FEW_ENTRIES = 1_000_000  # of a matrix up to which SciPy multiplies it, without torch, which is slow to import
CACHED_BYTES = 10 * 2**20  # of a block of columns that a sparse matrix is multiplied by: 0.5 instead of 1 ns per entry
# Columns of such a block: at least, where none fits the cache (a row is then one line of it), and at most.
FEWEST, MIDDLE, MOST = 8, 16, 64
FEW_VECTORS = 0.5  # share of the eigenvectors up to which only these are computed
PARTS = 16  # of the rows that threads work on; sums do not depend on the number of threads

S = TypeVar("S")
T = TypeVar("T")


def in_parts(work: Callable[[slice], T], rows: int) -> Iterator[T]:
    """``work`` of 16 consecutive parts of the rows, in order, :func:`in_threads`."""
    step = -(-rows // PARTS)
    return in_threads(work, [slice(start, min(start + step, rows)) for start in range(0, rows, step)] if rows else [])


def where_many(work: Callable[[slice], T], rows: int) -> list[T]:
    """``work`` :func:`in_parts` of 100,000 rows and more, else of all at once."""
    return list(in_parts(work, rows)) if rows >= MANY_ROWS else [work(slice(0, rows))]


def in_threads(work: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """``work`` of every item, in order, by as many threads as torch has.

    Inside, torch and BLAS use one thread each: on blocks that fit a core's cache, waiting for another core costs more.
    """
    import torch  # slow to import
    from threadpoolctl import threadpool_limits

    count = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(count) as pool:
            yield from pool.map(work, items)
    finally:
        torch.set_num_threads(count)


def release(array: np.ndarray | sp.csr_array) -> None:
    """Give the memory of a memory-mapped array or matrix back to the system; its content stays in the file."""
    part: Any
    for part in (array.data, array.indices) if isinstance(array, sp.csr_array) else (array,):
        while part is not None and getattr(part, "_mmap", None) is None:
            part = getattr(part, "base", None)  # SciPy holds the arrays of a matrix as views
        if part is not None:
            part._mmap.flush()
            part._mmap.madvise(mmap.MADV_DONTNEED)


def row_blocks(rows: int | slice, width: int, size: int | None = None) -> Iterator[slice]:
    """Consecutive slices of 0 … ``rows``, or of a slice, whose float32 entries, ``width`` per row, fill ``size`` bytes.

    16 MB by default; the last one may be smaller.
    """
    first, last = (rows.start, rows.stop) if isinstance(rows, slice) else (0, rows)
    step = max(1, (size or BLOCK_BYTES) // (4 * max(width, 1)))
    return (slice(start, min(start + step, last)) for start in range(first, last, step))


def column_blocks(rows: int, width: int) -> Iterator[slice]:
    """Consecutive slices of 0 … ``width`` columns that sparse products work on at a time: they fit the cache, or 16."""
    fitting = CACHED_BYTES // (4 * max(rows, 1))
    step = min(fitting, MOST) if fitting >= FEWEST else MIDDLE
    return (slice(start, min(start + step, width)) for start in range(0, width, step))


def torch_csr(s: sp.csr_array) -> Any:
    """S as a torch tensor in float32 that shares the memory of S where that is float32, too."""
    return csr_tensor(s.indptr, s.indices, np.asarray(s.data, dtype=np.float32), s.shape)


def csr_tensor(crow: Any, col: Any, values: Any, shape: tuple[int, int]) -> Any:
    """A torch CSR matrix of given arrays or tensors, whose memory it shares."""
    import torch  # slow to import

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # CSR is in beta state; arrays may be read-only, as is the matrix
        crow, col, values = (torch.as_tensor(part) for part in (crow, col, values))
        return torch.sparse_csr_tensor(crow, col, values, size=shape, check_invariants=False)


def multiply_sparse(s: Any, x: np.ndarray) -> np.ndarray:
    """S X, (N, D) float32, for X of float32, by SciPy or, where S is large, by torch, which has threads.

    Both add the terms of an entry in the same order, so results are bit-identical. A matrix that is known by its
    products computes them itself.
    """
    if not isinstance(s, sp.csr_array):
        return np.asarray(s @ x)
    if s.nnz <= FEW_ENTRIES:
        return np.asarray(s.astype(np.float32, copy=False) @ x)
    import torch  # slow to import

    matrix, found = torch_csr(s), np.empty((s.shape[0], x.shape[1]), dtype=np.float32)
    for columns in column_blocks(max(s.shape), x.shape[1]):
        found[:, columns] = (matrix @ torch.from_numpy(np.ascontiguousarray(x[:, columns]))).numpy()
    return found


@dataclass(frozen=True, eq=False)
class ScaledMatrix:
    """diag(l) S diag(r), (N, N), for a symmetric S that is in memory anyway: neither it nor its transpose is stored."""

    left: np.ndarray  # (N,) float32
    matrix: Any  # S; where it is divided among processes, l and r have this process's rows
    right: np.ndarray  # (N,) float32

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def T(self) -> ScaledMatrix:
        return ScaledMatrix(self.right, self.matrix, self.left)

    def __matmul__(self, y: np.ndarray) -> np.ndarray:
        """Of (N, D) float32, a few columns at a time."""
        found = np.empty(y.shape, dtype=np.float32)
        for columns in column_blocks(*y.shape):
            found[:, columns] = multiply_sparse(self.matrix, self.right[:, None] * y[:, columns])
            found[:, columns] *= self.left[:, None]
        return found


def multiply_rows(z: np.ndarray | sp.csr_array, weight: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Z W, (N, C) in the type of W, for Z of any storage, (N, D): a block of rows at a time.

    ``out`` may be Z itself where W is square.
    """
    out = np.empty((z.shape[0], weight.shape[1]), dtype=weight.dtype) if out is None else out
    width, narrow = z.shape[1] if isinstance(z, np.ndarray) else weight.shape[1], z.dtype == np.float16

    def multiply(part: slice) -> None:
        for rows in row_blocks(part, width, NARROW_BYTES if narrow else BLOCK_BYTES):
            block = as_float32(z[rows]) if narrow else z[rows]
            out[rows] = block.astype(weight.dtype, copy=False) @ weight

    where_many(multiply, z.shape[0])
    return out


def as_float32(z: np.ndarray) -> np.ndarray:
    """float16 as float32 by torch, which is about six times as fast as NumPy; float32 as it is."""
    if z.dtype != np.float16:
        return np.asarray(z, dtype=np.float32)
    import torch  # slow to import

    return torch.from_numpy(z).float().numpy()


def sample_of_rows(z: np.ndarray | sp.csr_array, shards: Shards = ALONE) -> np.ndarray | sp.csr_array:
    """Every k-th row, 100,000 to 200,000 of more than that: enough for the covariance of a few hundred columns.

    With several ``shards``, those of the same rows that this process has.
    """
    count = int(shards.sum(np.array(z.shape[0])))
    step = count // MANY_ROWS
    return z[-shards.rows(count).start % step :: step] if step > 1 else z


def gram(z: np.ndarray, shards: Shards = ALONE) -> np.ndarray:
    """Zᵀ Z, (D, D) float64, for Z of any storage, (N, D): a block of rows at a time; of all ``shards`` together.

    Of more than 100,000 rows the products of a block are float32, and so small that rounding does not matter.
    """
    return shards.sum(_gram(z, z.shape[0] <= MANY_ROWS))


def _gram(z: np.ndarray, precise: bool = True) -> np.ndarray:
    """``precise``: products in float64, so that hardly a bit depends on how the rows are divided."""

    def of_part(part: slice) -> np.ndarray:
        total = np.zeros((z.shape[1], z.shape[1]))
        for rows in row_blocks(part, z.shape[1], None if precise else NARROW_BYTES):
            block = as_float32(z[rows]) if z.dtype == np.float16 or not precise else z[rows]
            block = block.astype(np.float64) if precise else block
            total += block.T @ block
        return total

    first, *others = where_many(of_part, z.shape[0])
    return sum(others, first)


def leading_eigenvectors(square: np.ndarray, k: int) -> np.ndarray:
    """V, (D, k) float32, of the k largest eigenvalues of a symmetric matrix, (D, D) float64, the largest first.

    The steps of LAPACK's syevd, whose last one, Q V of the tridiagonal matrix, is left out for the other vectors: 0.6
    of the time where k is a fifth of D. Products of an even number of columns are bit-identical to those of all.
    """
    from scipy.linalg import lapack  # slow to import

    count, first = square.shape[0], (square.shape[0] - k) // 2 * 2
    if k > FEW_VECTORS * count or not hasattr(lapack, "dstevd"):  # SciPy before 1.16
        v = np.linalg.eigh(square)[1][:, first:]
    else:
        size = int(lapack.dsytrd_lwork(count, lower=1)[0])
        reflectors, *diagonals, tau, _ = lapack.dsytrd(square.T, lower=1, lwork=size)
        v, failed = lapack.dstevd(*diagonals)[1:]
        if failed:
            raise np.linalg.LinAlgError("eigenvalues did not converge")
        q, v = reflectors[1:, :-1], np.asfortranarray(v[:, first:])
        size = int(lapack.dormqr("L", "N", q, tau, v[1:], -1)[1][0])
        v[1:] = lapack.dormqr("L", "N", q, tau, v[1:], size)[0]
    return np.ascontiguousarray(v[:, v.shape[1] - k :][:, ::-1], dtype=np.float32)


def divide_rows(z: np.ndarray, squares: np.ndarray) -> None:
    """z_i ← z_i / √q_i in place for q = ``squares``, (N,); rows with q_i = 0 become zero."""
    scale = np.divide(1.0, np.sqrt(squares), out=np.zeros(squares.shape), where=squares > 0).astype(np.float32)

    def divide(part: slice) -> None:
        for rows in row_blocks(part, z.shape[1]):
            z[rows] = z[rows] * scale[rows, None]

    where_many(divide, z.shape[0])


def orthonormalise(y: np.ndarray, shards: Shards = ALONE) -> np.ndarray:
    """Q with Qᵀ Q = I and the columns of Y as its span, (N, D), in place: Q = Y R^-1 with Yᵀ Y = Rᵀ R, twice.

    Where Yᵀ Y is close to singular, by Householder reflections of the rows of all ``shards`` instead.
    """
    for _ in range(2):  # the second time removes the rounding of the first
        square = shards.sum(_gram(y))
        try:
            r = np.linalg.cholesky(square).T
        except np.linalg.LinAlgError:
            r = np.zeros_like(square)
        size = np.abs(np.diag(r))
        if size.min(initial=np.inf) <= 1e-5 * size.max(initial=0):
            count = int(shards.sum(np.array(y.shape[0])))
            return np.asarray(np.linalg.qr(shards.all_rows(y, count))[0])[shards.rows(count)]
        multiply_rows(y, np.linalg.inv(r).astype(y.dtype), out=y)
    return y
