"""Features from array to array, (N, F) dense or CSR, float32, and the map of features that drgst-plus fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from drgst.errors import SettingError
from drgst.graph.core import Features
from drgst.shards import ALONE, Shards
from drgst.transforms.incidence import LinkMatrix
from drgst.transforms.products import (
    MANY_ROWS,
    ScaledMatrix,
    gram,
    leading_eigenvectors,
    multiply_rows,
    multiply_sparse,
    orthonormalise,
    sample_of_rows,
)
from drgst.transforms.rank_normalise import RankTable, is_numeric

GRAM_COLUMNS = 2_000  # up to so many columns, leading components come from the eigenvectors of Xᵀ X
KRYLOV_BLOCKS = 6  # of a Krylov space; fewer and wider ones are less exact: 16 columns 6 times beat 24 columns 4 times
FEATURES = (np.ndarray, sp.csr_array)  # types of matrices that are held as a whole
FEW_ROUNDS = 3  # of subspace iteration where singular vectors are features, which need not be exact
Product: TypeAlias = ScaledMatrix | LinkMatrix  # matrices that are known by their products


def row_l1(x: Features) -> Features:
    """x_i / Σ_j |x_ij|: the paper's row normalisation; rows of zeros stay zero."""
    return _divide_rows(x, _row_sums(abs(x)))


def row_l2(x: Features) -> Features:
    """x_i / ‖x_i‖₂: unit rows, so that the product of two rows is their cosine; rows of zeros stay zero."""
    squares = x.multiply(x) if isinstance(x, sp.csr_array) else x * x
    return _divide_rows(x, np.sqrt(_row_sums(squares)))


def idf(x: Features, shards: Shards = ALONE) -> np.ndarray:
    """1 + log((1 + N) / (1 + n_j)) with n_j the number of nodes that have feature j, (F,) float32."""
    if isinstance(x, sp.csr_array):
        present = np.bincount(x.indices, minlength=x.shape[1])
    else:
        present = np.count_nonzero(x, axis=0)
    return idf_of(shards.sum(present), total_rows(x, shards))


def total_rows(x: Features | Product, shards: Shards) -> int:
    """N, of a matrix of which each of the ``shards`` has its rows."""
    return int(shards.sum(np.array(x.shape[0]))) if isinstance(x, FEATURES) else x.shape[0]


def idf_of(present: np.ndarray, nodes: int) -> np.ndarray:
    """1 + log((1 + N) / (1 + n_j)) of numbers n, (F,) float32."""
    return (1 + np.log((1 + nodes) / (1 + present))).astype(np.float32)


def scale_columns(x: Features, by: np.ndarray) -> Features:
    """x_ij · by_j."""
    return _like(x, x.data * by[x.indices]) if isinstance(x, sp.csr_array) else x * by


def svd(
    x: Features | Product, k: int, seed: int, rounds: int = 7, symmetric: bool = False, shards: Shards = ALONE
) -> np.ndarray:
    """U_k Σ_k of X ≈ U_k Σ_k V_kᵀ, (N, k) dense: truncated SVD by ``rounds`` of randomised subspace iteration.

    A ``symmetric`` X is not transposed. Signs are fixed (the largest entry of each column is positive), so that a
    seed gives the same matrix again. With several ``shards``, X and the result have the rows of this process.
    """
    limit = min(total_rows(x, shards), x.shape[1])
    if not 1 <= k <= limit:
        raise SettingError(f"svd has k = {k}, but a matrix of shape {x.shape} allows 1 to {limit}")
    right = _Transposed(x, symmetric, shards)
    q = right.random(seed, min(k + 10, limit))
    for _ in range(rounds):
        q = orthonormalise(right @ orthonormalise(_product(x, q), shards), right.shards)
    q = orthonormalise(_product(x, q), shards)
    squares, u = np.linalg.eigh(gram(right @ q, right.shards))  # Qᵀ X Xᵀ Q = U Σ² Uᵀ, in ascending order
    leading = u[:, -k:] * np.sqrt(np.maximum(squares[-k:], 0))
    reduced = multiply_rows(q, leading[:, ::-1].astype(np.float32))
    highest, lowest = shards.extremes(reduced)
    reduced *= np.where(-lowest > highest, -1, 1).astype(np.float32)
    return reduced


def krylov_vectors(x: Features | Product, k: int, symmetric: bool = False, shards: Shards = ALONE) -> np.ndarray:
    """V_k, (F, k) float32, of X ≈ U_k Σ_k V_kᵀ, in the Krylov space span(M Ω, …, M⁶ Ω), M = XᵀX, Ω random.

    Musco, Musco, Randomized Block Krylov Methods, NeurIPS 2015. M = X where X is ``symmetric``. Of its 1.5 k
    dimensions, the k leading ones are kept. Directions that are hardly above the noise show after half of the products
    of :func:`svd` with 3 rounds: those of a block model of 200,000 nodes predict 54 instead of 45 % of its classes.
    """
    right = _Transposed(x, symmetric, shards)
    width = -(-3 * k // (2 * KRYLOV_BLOCKS))
    q = right.random(0, width)
    basis = np.empty((q.shape[0], width * KRYLOV_BLOCKS), dtype=np.float32)
    for start in range(0, basis.shape[1], width):
        q = orthonormalise(right @ (q if symmetric else _product(x, q)), right.shards)
        basis[:, start : start + width] = q
    basis = orthonormalise(basis, right.shards)
    return multiply_rows(basis, leading_eigenvectors(gram(_product(x, basis), shards), k))


class _Transposed:
    """Xᵀ for products with matrices whose rows are divided as those of X are.

    The columns of features are the same in every process, so that products are summed. Those of a matrix of nodes and
    nodes are divided as its rows.
    """

    def __init__(self, x: Features | Product, symmetric: bool, shards: Shards) -> None:
        self.x = x if symmetric else x.T.tocsr() if isinstance(x, sp.csr_array) else x.T
        self.count, divided = x.shape[1], not isinstance(x, FEATURES)
        self.shards, self.sum = (shards, ALONE.sum) if divided else (ALONE, shards.sum)

    def __matmul__(self, y: np.ndarray) -> np.ndarray:
        return self.sum(_product(self.x, y))

    def random(self, seed: int, width: int) -> np.ndarray:
        """The rows of this process of a matrix of standard normal numbers with a row per column of X, float32."""
        rng, own, kept = np.random.default_rng(seed), self.shards.rows(self.count), []
        if self.shards.size == 1:
            return rng.standard_normal((self.count, width), dtype=np.float32)
        for start in range(0, self.count, MANY_ROWS):
            block = rng.standard_normal((min(MANY_ROWS, self.count - start), width), dtype=np.float32)
            kept.append(block[max(own.start - start, 0) : max(own.stop - start, 0)])
        return np.concatenate(kept)


def projection(x: Features | Product, k: int, shards: Shards = ALONE) -> np.ndarray | None:
    """V_k, (F, k) float32, of X ≈ U_k Σ_k V_kᵀ; None where X has k rows or columns or fewer and needs no reduction.

    With several ``shards``, X has the rows of this process, and so has V where the columns of X are nodes.
    """
    count = total_rows(x, shards)
    if min(count, x.shape[1]) <= k:
        return None
    if isinstance(x, ScaledMatrix | LinkMatrix) or x.shape[1] > GRAM_COLUMNS:
        if count >= MANY_ROWS:
            return krylov_vectors(x, k, shards=shards)
        reduced = svd(x, k, seed=0, rounds=FEW_ROUNDS, shards=shards)
        squares = np.maximum(shards.sum((reduced * reduced).sum(axis=0)), np.finfo(np.float32).tiny)
        v = _Transposed(x, False, shards) @ reduced
        return np.asarray(np.divide(v, squares, out=v), dtype=np.float32)  # Xᵀ U Σ / Σ² = V
    if shards.size > 1 or count >= MANY_ROWS:
        x = x.astype(np.float64)  # so that no direction depends on how the rows are divided
    square = x.T @ x
    square = np.asarray(square if isinstance(x, np.ndarray) else square.toarray(), np.float64)
    return leading_eigenvectors(shards.sum(square), k)


def reduce_columns(x: Features, k: int) -> np.ndarray:
    """X V_k of the truncated SVD of X, or X where :func:`projection` has nothing to reduce, (N, ≤k) dense."""
    return project(x, projection(x, k))


def project(x: Features | Product, v: np.ndarray | None) -> np.ndarray:
    """X V, dense; X where V is None."""
    if v is not None:
        return _product(x, v)
    return np.asarray(x.toarray() if isinstance(x, sp.csr_array) else x, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """x -> (x - m) ∘ s / ‖·‖₂ V, (N, k): columns weighted, rows of unit length, columns reduced.

    Numeric features are rank-normalised first (:class:`~.RankTable`). Without negative values, m = 0 and s is the
    square root of the inverse document frequency, so that rare words count more (experiment 021); otherwise m is the
    mean and 1/s the standard deviation of each column. V are the leading right singular vectors.
    """

    ranks: RankTable | None
    shift: np.ndarray | None  # m, (F,); None for 0
    scale: np.ndarray  # s, (F,)
    vectors: np.ndarray | None  # V, (F, k); None where there are few columns

    @classmethod
    def fit(cls, x: Features, k: int, prepared: bool = False, shards: Shards = ALONE) -> FeatureMap:
        """The map of at most ``k`` columns for features like ``x``, (N, F); ``prepared`` ones are not ranked.

        With several ``shards``, x has the rows of this process. With very many rows, all but the ranks is fitted to a
        sample.
        """
        ranks = RankTable.fit(x, shards) if not prepared and is_numeric(x, shards) else None
        x = sample_of_rows(x if ranks is None else ranks(x), shards)
        values = x if isinstance(x, np.ndarray) else x.data
        shift = None
        if shards.any(values.min(initial=0) < 0):
            mean, deviation = _moments(x, shards)
            scale = (1 / np.where(deviation > 0, deviation, 1)).astype(np.float32)
            shift = mean.astype(np.float32) if x.shape[1] <= GRAM_COLUMNS else None
        else:
            scale = np.sqrt(idf(x, shards))
        plain = cls(None, shift, scale, None)
        return cls(ranks, shift, scale, projection(plain.weighted(x), k, shards))

    def __call__(self, x: Features) -> np.ndarray:
        """The table of the nodes with features ``x``, (N, ≤k) float32."""
        return project(self.weighted(x), self.vectors)

    def weighted(self, x: Features) -> Features:
        """The rows of unit length before their columns are reduced, (N, F)."""
        x = x if self.ranks is None else self.ranks(x)
        if self.shift is None:
            return row_l2(scale_columns(x, self.scale))
        return row_l2(((x if isinstance(x, np.ndarray) else x.toarray()) - self.shift) * self.scale)

    def arrays(self) -> dict[str, np.ndarray]:
        own = {"shift": self.shift, "scale": self.scale, "vectors": self.vectors}
        ranks = {} if self.ranks is None else {f"ranks_{name}": a for name, a in vars(self.ranks).items()}
        return {name: array for name, array in {**own, **ranks}.items() if array is not None}

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> FeatureMap:
        ranks = {k.removeprefix("ranks_"): a for k, a in arrays.items() if k.startswith("ranks_")}
        table = RankTable(**ranks) if ranks else None
        return cls(table, arrays.get("shift"), arrays["scale"], arrays.get("vectors"))


def _moments(x: Features, shards: Shards) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every column, (F,) float64."""
    mean = shards.mean(x)
    squares = x * x if isinstance(x, np.ndarray) else x.multiply(x)
    variance = shards.mean(squares) - mean * mean
    return mean, np.sqrt(np.maximum(variance, 0))


def _product(x: Features | Product, y: np.ndarray) -> np.ndarray:
    """X Y, dense."""
    return multiply_sparse(x, y) if isinstance(x, sp.csr_array) else np.asarray(x @ y)


def _row_sums(x: Features) -> np.ndarray:
    return np.asarray(x.sum(axis=1, dtype=np.float64)).reshape(-1)


def _divide_rows(x: Features, by: np.ndarray) -> Features:
    scale = np.divide(1.0, by, out=np.zeros_like(by), where=by > 0).astype(np.float32)
    if isinstance(x, sp.csr_array):
        return _like(x, x.data * np.repeat(scale, np.diff(x.indptr)))
    return x * scale[:, None]


def _like(x: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    """A matrix with the pattern of ``x`` and other values."""
    return sp.csr_array((data, x.indices, x.indptr), shape=x.shape)
