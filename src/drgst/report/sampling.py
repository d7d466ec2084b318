"""The part of a large run that a page holds: nodes, stages and edges are bounded, and each cut is noted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

NODES = 20_000  # points that a browser moves smoothly
BUDGET = 7_000_000  # bytes for data per node and stage
COST = 38  # bytes of one node in one stage
EDGES = 600_000  # neighbour entries
NEIGHBOURS = 24  # per node, where there are more entries than that


@dataclass(frozen=True, eq=False)
class Sample:
    """The nodes (sorted) and stages (by place in the history) that a page holds, and a sentence for each cut."""

    nodes: np.ndarray
    stages: list[int]
    notes: list[str]


def take_sample(total: int, stages: int, result: int, required: np.ndarray, seed: int) -> Sample:
    """Everything where it fits; else ``required`` and a uniform sample of the other nodes, and evenly spaced stages.

    The first, the last and the ``result`` stage are always kept.
    """
    nodes, notes = np.arange(total), []
    if total > NODES:
        nodes = _drawn(total, required[:NODES], seed)
        notes.append(
            f"The map holds {nodes.size:,} of {total:,} nodes: all training and suggested nodes, and a uniform sample "
            "of the others. Figures, tables of classes and diagrams are of all nodes."
        )
    most = max(3, BUDGET // (COST * nodes.size))
    kept = list(range(stages))
    if stages > most:
        spaced = np.linspace(0, stages - 1, max(2, most - 1)).round().astype(int)
        kept = sorted({*spaced.tolist(), result})
        notes.append(f"The page holds {len(kept)} of {stages} stages in detail, evenly spaced.")
    return Sample(nodes, kept, notes)


def neighbours(adjacency: sp.csr_array, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(indptr, indices, notes) of the edges among ``nodes``, numbered by place in ``nodes``."""
    among = adjacency[nodes][:, nodes].tocsr() if nodes.size < adjacency.shape[0] else adjacency
    if among.nnz <= EDGES:
        return among.indptr, among.indices, []
    rows = [_heaviest(among, row) for row in range(among.shape[0])]
    indptr = np.concatenate([[0], np.cumsum([row.size for row in rows])])
    note = f"At most {NEIGHBOURS} neighbours of each node are listed, those of the heaviest edges."
    return indptr, np.concatenate(rows), [note]


def _drawn(total: int, required: np.ndarray, seed: int) -> np.ndarray:
    required = np.unique(required)
    rest = np.setdiff1d(np.arange(total), required)
    more = np.random.default_rng(seed).choice(rest, NODES - required.size, replace=False)
    return np.union1d(required, more)


def _heaviest(matrix: sp.csr_array, row: int) -> np.ndarray:
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    best = np.argsort(-matrix.data[part], kind="stable")[:NEIGHBOURS]
    return np.sort(matrix.indices[part][best])
