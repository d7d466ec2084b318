"""Propagation of values along edges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from drgst.shards import ALONE, Shards
from drgst.transforms.products import BLOCK_BYTES, MEMORY, Storage, divide_rows, torch_csr
from drgst.transforms.softmax import DOUBLE_ROWS, softmax

NARROWEST, WIDEST = 16, 64  # columns of a block: 16 are one cache line of a row
MatrixSum: TypeAlias = tuple[tuple[float, sp.csr_array], ...]  # Σ_i w_i S_i as ((w_1, S_1), …), which is never formed


def propagate(s: sp.csr_array, start: np.ndarray, alpha: float, steps: int) -> np.ndarray:
    """G⁰ = Y, Gᵗ⁺¹ = (1-α) Y + α S Gᵗ, (N, D) for ``start`` = Y, (N, D), and a normalised adjacency S, (N, N)."""
    g = start
    for _ in range(steps):
        g = (1 - alpha) * start + alpha * (s @ g)
    return g


def propagate_to_limit(s: sp.csr_array, start: np.ndarray, restart: float, tolerance: float = 1e-6) -> np.ndarray:
    """α (I - (1-α) S)^-1 Y with α = ``restart``, (N, D), by :func:`propagate` until (1-α)ᵗ < ``tolerance``."""
    return propagate(s, start, 1 - restart, math.ceil(math.log(tolerance) / math.log(1 - restart)))


def smooth_log_probs(log_p: np.ndarray, s: sp.csr_array | MatrixSum, steps: int = 5) -> np.ndarray:
    """log of G⁵ with rows made to sum to 1, G⁰ = p, Gᵗ⁺¹ = 0.2 p + 0.8 S Gᵗ, (N, C); in float32 for many nodes."""
    if log_p.shape[0] <= DOUBLE_ROWS and not isinstance(s, tuple):
        p = np.maximum(propagate(s, softmax(log_p), 0.8, steps), 1e-12)
        return np.asarray(np.log(p / p.sum(axis=1, keepdims=True)))
    import torch  # slow to import

    parts = [(weight, torch_csr(matrix)) for weight, matrix in (s if isinstance(s, tuple) else ((1.0, s),))]
    start = torch.softmax(torch.from_numpy(np.asarray(log_p, dtype=np.float32)), 1)
    here, product, total = start.clone(), torch.empty_like(start), torch.empty_like(start)
    for _ in range(steps):
        torch.mul(start, 0.2, out=total)
        for weight, matrix in parts:
            torch.mm(matrix, here, out=product)
            total.add_(product, alpha=0.8 * weight)
        here, total = total, here
    here.clamp_(min=1e-12)
    here.div_(here.sum(dim=1, keepdim=True))
    return here.log_().numpy()


def restart_coefficients(restart: float, steps: int) -> np.ndarray:
    """c_k = α (1-α)^k for k < n and c_n = (1-α)^n, (n+1,): Σ_k c_k S^k Y is Gⁿ of :func:`propagate` with 1 - α.

    α = ``restart``, n = ``steps``.
    """
    c = restart * (1 - restart) ** np.arange(steps + 1)
    c[-1] = (1 - restart) ** steps
    return c


def shortened(coefficients: np.ndarray, degree: int) -> np.ndarray:
    """c' of a polynomial of ``degree`` at most with Σ_k c'_k λ^k ≈ Σ_k c_k λ^k on [-1, 1].

    Its Chebyshev series is that of c without the terms above ``degree``.
    For a restart probability of 0.1 and 20 steps, degree 10 errs by at most 0.0025, and the polynomial is 1 at λ = 1:
    half of the products of a large graph are saved.
    """
    series = np.polynomial.chebyshev.poly2cheb(coefficients)
    return np.asarray(np.polynomial.chebyshev.cheb2poly(series[: degree + 1]))


def polynomial_blocks(
    s: sp.csr_array, x: np.ndarray, coefficients: Sequence[np.ndarray]
) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """(J, [Σ_k c_k S^k X_J for each c]), (N, |J|) float32 each, for consecutive blocks J of the columns of X, (N, D).

    All polynomials come from one sequence S X, S² X, … A block of X fits the cache where N allows it. The arrays are
    overwritten by the next block. Results do not depend on the number of threads: each row of a product is summed by
    one thread.
    """
    import torch  # slow to import

    count, width = x.shape
    matrix = torch_csr(s)
    step = min(max(BLOCK_BYTES // (4 * max(count, 1)), NARROWEST), WIDEST)
    for start in range(0, width, step):
        columns = slice(start, min(start + step, width))
        here = torch.from_numpy(np.array(x[:, columns], dtype=np.float32, order="C"))
        following = torch.empty_like(here)
        sums = [here * float(c[0]) for c in coefficients]
        for k in range(1, max(len(c) for c in coefficients)):
            torch.mm(matrix, here, out=following)
            here, following = following, here
            for total, c in zip(sums, coefficients, strict=True):
                if k < len(c) and c[k]:
                    total.add_(here, alpha=float(c[k]))
        yield columns, [total.numpy() for total in sums]


def polynomials(
    s: sp.csr_array,
    x: np.ndarray,
    coefficients: Sequence[np.ndarray],
    storage: Storage = MEMORY,
    name: str = "z",
    means: Sequence[np.ndarray | None] | None = None,
    shards: Shards = ALONE,
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Σ_k c_k S^k X, centred and with rows of unit length, (N, D), for each c of ``coefficients``; and the means, (D,).

    ``x`` is (N, D) of any storage. Two restart probabilities are two :func:`restart_coefficients`; X, S X, S² X are the
    rows of an identity matrix. Beside the results, three blocks of columns (:func:`polynomial_blocks`) and one per
    polynomial are held. In ``storage`` the results are called ``name``-0, ``name``-1, … ``means`` are those of another
    graph, which are then subtracted instead of the own ones.

    With several ``shards``, ``x`` and ``means`` are the own columns, and the results have all columns of the own rows.
    """
    given = means or [None] * len(coefficients)
    results = [storage.empty(x.shape, f"{name}-{r}") for r in range(len(coefficients))]
    centres = [np.empty(x.shape[1], dtype=np.float32) if mean is None else mean for mean in given]
    squares = np.zeros((len(coefficients), x.shape[0]))
    scales = [0.0] * len(coefficients)  # one number per result that makes its values about 1, for float16
    for columns, sums in polynomial_blocks(s, x, coefficients):
        for r, (result, block) in enumerate(zip(results, sums, strict=True)):
            if given[r] is None:
                centres[r][columns] = block.mean(axis=0, dtype=np.float64)
            block -= centres[r][columns]
            if columns.start == 0 or (shards.size == 1 and not scales[r]):
                scales[r] = shards.first(_inverse_rms(block))
            block *= np.float32(scales[r] or 1)
            squares[r] += np.einsum("ij,ij->i", block, block)
            result[:, columns] = block
    squares = shards.sum(squares)
    width, rows = int(shards.sum(np.array(x.shape[1]))), shards.rows(x.shape[0])
    results = [shards.to_rows(result, width) for result in results]
    for result, q in zip(results, squares, strict=True):
        divide_rows(result, q[rows])
    return tuple(results), tuple(centres)


def _inverse_rms(block: np.ndarray) -> float:
    """1 / √mean(z²); 0 where all are zero."""
    mean = float(np.vdot(block, block)) / max(block.size, 1)
    return 1 / math.sqrt(mean) if mean > 0 else 0.0
