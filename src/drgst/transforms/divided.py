"""A sparse matrix whose rows are divided among processes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.shards import Shards
from drgst.transforms.products import column_blocks, multiply_sparse


@dataclass(frozen=True, eq=False)
class DividedMatrix:
    """S, (N, N), of which each of several processes has its rows; S X is computed by rows, for X divided alike.

    A process is sent those rows of X that its entries meet in the rows of others. Terms are added in the order of the
    undivided matrix, so products are bit-identical.
    """

    local: sp.csr_array  # (n, n + f): this process's rows; columns are its rows of X, then f rows of others
    sent: tuple[np.ndarray, ...]  # own rows of X that each process is sent
    shards: Shards
    count: int  # N

    @classmethod
    def of(cls, rows: sp.csr_array, shards: Shards) -> DividedMatrix:
        """The matrix of which this process has ``rows``, (n, N)."""
        count, own = rows.shape[1], shards.rows(rows.shape[1])
        foreign = np.unique(rows.indices)
        foreign = foreign[(foreign < own.start) | (foreign >= own.stop)]
        ends = [shards.rows_of(rank, count).stop for rank in range(shards.size)]
        wanted = np.split(foreign.astype(np.int64), np.searchsorted(foreign, ends)[:-1])
        sent = tuple(nodes - own.start for nodes in shards.swap(wanted))
        place = np.searchsorted(foreign, rows.indices) + rows.shape[0]
        inside = (rows.indices >= own.start) & (rows.indices < own.stop)
        columns = np.where(inside, rows.indices - own.start, place).astype(rows.indices.dtype)
        shape = (rows.shape[0], rows.shape[0] + foreign.size)
        return cls(sp.csr_array((rows.data, columns, rows.indptr), shape=shape), sent, shards, count)

    @property
    def shape(self) -> tuple[int, int]:
        return self.count, self.count

    @property
    def nnz(self) -> int:
        """Stored entries of this process's rows."""
        return int(self.local.nnz)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        """This process's rows of S X, (n, D) float32, for those of X, a few columns at a time."""
        found = np.empty((self.local.shape[0], x.shape[1]), dtype=np.float32)
        for columns in column_blocks(self.local.shape[1], x.shape[1]):
            here = np.ascontiguousarray(x[:, columns], dtype=np.float32)
            received = self.shards.swap([here[rows] for rows in self.sent])
            found[:, columns] = multiply_sparse(self.local, np.concatenate([here, *received]))
        return found
