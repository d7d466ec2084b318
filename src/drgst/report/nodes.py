"""The nodes of a page as packed arrays: position, neighbours, role, and the predictions of each stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from drgst.graph.split import Split
from drgst.report.packing import pack, pack_shares
from drgst.report.sampling import Sample, neighbours, take_sample
from drgst.report.tsne import positions
from drgst.runs.result import Result
from drgst.selftrain.history import Stage

TOP = 5  # likeliest classes that are kept per node
ROLES = ("other", "training", "validation", "test", "pool")


def sample_of(result: Result, more: Sequence[int] = ()) -> Sample:
    """The nodes and stages that fit on the page, with all training and suggested nodes and the nodes ``more``."""
    required = np.concatenate([np.array(more, dtype=np.int64), result.split.train, result.suggested.nodes])
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
