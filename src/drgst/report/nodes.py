"""The nodes of a page as packed arrays: position, neighbours, role, and the predictions of each stage.

A page holds a part of a large run: nodes, stages and edges are bounded, and a note says what was left out.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.graph.split import Split
from drgst.report.tsne import positions
from drgst.runs.result import Result
from drgst.selftrain.history import Stage

TOP = 5  # likeliest classes that are kept per node
ROLES = ("other", "training", "validation", "test", "pool")
NODES = 20_000  # points that a browser moves smoothly
BUDGET = 7_000_000  # bytes for data per node and stage
COST = 38  # bytes of one node in one stage
EDGES = 600_000  # neighbour entries
NEIGHBOURS = 24  # per node, where there are more entries than that
KINDS = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "i2": "<i2", "f4": "<f4"}
WHOLE = 65_535  # a share of 1 in 16 bits


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


def sample_of(result: Result, shown: Sequence[int]) -> Sample:
    """The nodes and stages that fit on the page, with the nodes ``shown`` and all training nodes."""
    required = np.concatenate([np.array(shown, dtype=np.int64), result.split.train])
    place = result.history.stages.index(result.stage)
    return take_sample(result.graph.num_nodes, len(result.history), place, required, result.model.seed)


def node_data(result: Result, sample: Sample) -> dict[str, Any]:
    """All data of single nodes; adds to ``sample.notes`` where edges are left out."""
    graph, split, nodes = result.graph, result.split, sample.nodes
    place = positions(result.stage.embedding[nodes], result.model.seed)
    indptr, indices, notes = neighbours(graph.adjacency, nodes)
    sample.notes.extend(notes)
    stages = [result.history[s] for s in sample.stages]
    return {
        "count": int(nodes.size),
        "total": graph.num_nodes,
        "ids": [str(name) for name in graph.node_ids[nodes].tolist()],
        "truth": pack(graph.labels[nodes], "i2"),
        "role": pack(roles(split, graph.num_nodes)[nodes], "u1"),
        "entered": pack(result.model.arrays["labeled_stage"][nodes], "i2"),
        "degree": pack(graph.degrees[nodes], "u4"),
        "x": pack_shares(place[:, 0]),
        "y": pack_shares(place[:, 1]),
        "indptr": pack(indptr, "u4"),
        "neighbours": pack(indices, "u4"),
        **_predictions(stages, nodes),
        "pseudo_labels": [_pseudo_labels(stage, nodes) for stage in stages],
    }


def roles(split: Split, nodes: int) -> np.ndarray:
    """The index of each node's role in ``ROLES``, (N,); a test node that is also in the pool is a test node."""
    role = np.zeros(nodes, dtype=np.uint8)
    for code, part in ((4, split.pool), (1, split.train), (2, split.val), (3, split.test)):
        role[part] = code
    return role


def _predictions(stages: list[Stage], nodes: np.ndarray) -> dict[str, Any]:
    """The likeliest classes with their probabilities, and the information gain, (stages, nodes, …)."""
    p = np.stack([stage.probabilities[nodes] for stage in stages])
    order = np.argsort(-p, axis=2, kind="stable")[:, :, :TOP]
    return {
        "top": pack(order, "u1" if p.shape[2] <= 256 else "u2"),
        "share": pack_shares(np.take_along_axis(p, order, axis=2)),
        "gain": pack(np.stack([stage.all_gain[nodes] for stage in stages]), "f4"),
    }


def _pseudo_labels(stage: Stage, nodes: np.ndarray) -> dict[str, Any]:
    """The pseudo-labelled nodes of a stage with their labels and weights."""
    here = np.isin(stage.pseudo_labels.nodes, nodes)
    return {
        "node": pack(np.searchsorted(nodes, stage.pseudo_labels.nodes[here]), "u4"),
        "label": pack(stage.pseudo_labels.labels[here], "u2"),
        "weight": pack(stage.weights[here], "f4"),
    }


def pack(values: Any, kind: str) -> dict[str, Any]:
    """``{"kind", "shape", "data"}``."""
    array = np.ascontiguousarray(values, dtype=KINDS[kind])
    return {"kind": kind, "shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode("ascii")}


def pack_shares(values: np.ndarray) -> dict[str, Any]:
    """Numbers between 0 and 1 in 16 bits."""
    return pack(np.rint(np.clip(values, 0, 1) * WHOLE), "u2")
