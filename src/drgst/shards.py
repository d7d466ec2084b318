"""Several processes that share one computation: which rows are whose, and how they are exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp


class Shards:
    """One process of ``size``, which has consecutive rows of every (N, D) matrix.

    All processes call the same methods in the same order. This class is the only process of one: everything is its own.
    """

    rank, size = 0, 1

    def rows(self, count: int) -> slice:
        """The rows of this process of 0 … ``count``."""
        return self.rows_of(self.rank, count)

    def rows_of(self, rank: int, count: int) -> slice:
        """The rows of the process ``rank`` of 0 … ``count``."""
        return slice(count * rank // self.size, count * (rank + 1) // self.size)

    def sum(self, array: np.ndarray) -> np.ndarray:
        """The sum of the ``array`` of every process, bit-identical in each."""
        return array

    def first(self, value: Any) -> Any:
        """The ``value`` of the first process."""
        return value

    def mean(self, own: np.ndarray | sp.csr_array) -> np.ndarray:
        """The means of the columns of a matrix of which each process has its rows, (D,) float64."""
        return np.asarray(own.mean(axis=0, dtype=np.float64)).reshape(-1)

    def any(self, here: bool) -> bool:
        """Whether it holds in a process."""
        return here

    def extremes(self, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The largest and the smallest entry of each column of a matrix of which each process has its rows, (D,)."""
        return own.max(axis=0), own.min(axis=0)

    def swap(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What each process has for this one, from what this one has ``parts`` for each; all of one type and width."""
        return list(parts)

    def all_rows(self, own: np.ndarray, count: int) -> np.ndarray:
        """All rows, (``count``, …), from those of each process."""
        del count
        return own

    def blocks(self, own: np.ndarray, count: int) -> Iterator[np.ndarray]:
        """All rows in order, (``count``, …), those of one process at a time."""
        del count
        yield own

    def at(self, own: np.ndarray, nodes: np.ndarray, count: int) -> np.ndarray:
        """The rows of ``nodes``, (M, D), of which this process has the ``own`` part of ``count`` rows."""
        part = self.rows(count)
        inside = (nodes >= part.start) & (nodes < part.stop)
        if inside.all() and self.size == 1:
            return own[nodes]
        found = np.zeros((nodes.size, own.shape[1]), dtype=np.float32)
        found[inside] = own[nodes[inside] - part.start]
        return self.sum(found)


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

    def mean(self, own: np.ndarray | sp.csr_array) -> np.ndarray:
        """By the sums of all processes."""
        total = np.asarray(own.sum(axis=0, dtype=np.float64)).reshape(-1)
        *sums, count = self.sum(np.append(total, own.shape[0]))
        return np.asarray(sums) / max(count, 1)

    def any(self, here: bool) -> bool:
        """By the sum."""
        return bool(self.sum(np.array(float(here))) > 0)

    def extremes(self, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By those of each process."""
        each = self.all_rows(np.stack([own.max(axis=0), own.min(axis=0)])[None], self.size)
        return each[:, 0].max(axis=0), each[:, 1].min(axis=0)

    def swap(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """By all_to_all, of the numbers of rows first."""
        import torch

        lengths = torch.empty(self.size, dtype=torch.int64)
        self.dist.all_to_all_single(lengths, torch.tensor([len(part) for part in parts]))
        shape, kind = parts[0].shape[1:], parts[0].dtype
        width = kind.itemsize * int(np.prod(shape))
        received = torch.empty(int(lengths.sum()) * width, dtype=torch.uint8)
        sent = torch.cat([_bytes(part) for part in parts])
        self.dist.all_to_all_single(
            received, sent, [n * width for n in lengths.tolist()], [len(part) * width for part in parts]
        )
        ends = np.cumsum(lengths.numpy())[:-1]
        return np.split(received.numpy().view(kind).reshape(-1, *shape), ends)

    def blocks(self, own: np.ndarray, count: int) -> Iterator[np.ndarray]:
        """By a broadcast of each process."""
        import torch

        for rank in range(self.size):
            shape = (_length(self.rows_of(rank, count)), *own.shape[1:])
            block = np.ascontiguousarray(own) if rank == self.rank else np.empty(shape, dtype=own.dtype)
            self.dist.broadcast(torch.from_numpy(block.reshape(-1).view(np.uint8)), src=rank)
            yield block

    def all_rows(self, own: np.ndarray, count: int) -> np.ndarray:
        """By all_gather, with parts of equal size."""
        import torch

        lengths = [_length(self.rows_of(rank, count)) for rank in range(self.size)]
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
