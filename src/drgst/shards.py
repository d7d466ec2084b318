"""Several processes that share one computation: which rows and columns are whose, and how they are exchanged."""

from __future__ import annotations

from typing import Any

import numpy as np


class Shards:
    """One process of ``size``, with its part of the columns and of the rows of every (N, D) matrix.

    All processes call the same methods in the same order. This class is the only process of one: everything is its own.
    """

    rank, size = 0, 1

    def columns(self, width: int) -> slice:
        """The columns of this process of 0 … ``width``."""
        return self._part(width, self.rank)

    def rows(self, count: int) -> slice:
        """The rows of this process of 0 … ``count``."""
        return self._part(count, self.rank)

    def sum(self, array: np.ndarray) -> np.ndarray:
        """The sum of the ``array`` of every process, bit-identical in each."""
        return array

    def first(self, value: Any) -> Any:
        """The ``value`` of the first process."""
        return value

    def to_rows(self, own: np.ndarray, width: int) -> np.ndarray:
        """All ``width`` columns of the own rows, (rows, D), from the own columns of all rows, (N, d)."""
        del width
        return own

    def all_rows(self, own: np.ndarray, count: int) -> np.ndarray:
        """All rows, (``count``, …), from the own ones."""
        del count
        return own

    def at(self, own: np.ndarray, nodes: np.ndarray, count: int) -> np.ndarray:
        """The rows of ``nodes``, (M, D), of which this process has the ``own`` part of ``count`` rows."""
        part = self.rows(count)
        inside = (nodes >= part.start) & (nodes < part.stop)
        if inside.all() and self.size == 1:
            return own[nodes]
        found = np.zeros((nodes.size, own.shape[1]), dtype=np.float32)
        found[inside] = own[nodes[inside] - part.start]
        return self.sum(found)

    def _part(self, count: int, rank: int) -> slice:
        return slice(count * rank // self.size, count * (rank + 1) // self.size)


ALONE = Shards()


class ProcessGroup(Shards):
    """One process of a group of torch.distributed with the backend gloo, which is initialised already."""

    def __init__(self) -> None:
        import torch.distributed as dist  # slow to import

        self.dist = dist
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def sum(self, array: np.ndarray) -> np.ndarray:
        """By all_reduce."""
        import torch

        total = torch.from_numpy(np.array(array, order="C", ndmin=1))
        self.dist.all_reduce(total)
        return total.numpy().reshape(np.shape(array))

    def first(self, value: Any) -> Any:
        """By broadcast."""
        values = [value]
        self.dist.broadcast_object_list(values, src=0)
        return values[0]

    def to_rows(self, own: np.ndarray, width: int) -> np.ndarray:
        """By one all_to_all."""
        import torch

        count = own.shape[0]
        rows = self.rows(count)
        sent = [_bytes(own[self._part(count, rank)]) for rank in range(self.size)]
        shapes = [(rows.stop - rows.start, _length(self._part(width, rank))) for rank in range(self.size)]
        sizes = [n * d * own.dtype.itemsize for n, d in shapes]
        received = torch.empty(sum(sizes), dtype=torch.uint8)
        self.dist.all_to_all_single(received, torch.cat(sent), sizes, [part.numel() for part in sent])
        parts = np.split(received.numpy(), np.cumsum(sizes)[:-1])
        return np.hstack([part.view(own.dtype).reshape(shape) for part, shape in zip(parts, shapes, strict=True)])

    def all_rows(self, own: np.ndarray, count: int) -> np.ndarray:
        """By all_gather, with parts of equal size."""
        import torch

        lengths = [_length(self._part(count, rank)) for rank in range(self.size)]
        padded = np.zeros((max(lengths), *own.shape[1:]), dtype=own.dtype)
        padded[: own.shape[0]] = own
        parts = [torch.empty(padded.nbytes, dtype=torch.uint8) for _ in lengths]
        self.dist.all_gather(parts, _bytes(padded))
        each = [part.numpy().view(own.dtype).reshape(padded.shape)[:n] for part, n in zip(parts, lengths, strict=True)]
        return np.concatenate(each)


def _length(part: slice) -> int:
    return int(part.stop - part.start)


def _bytes(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
