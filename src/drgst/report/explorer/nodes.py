"""The nodes of a page as packed arrays: who they are, where they stand, what each stage believed of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from drgst.graph.split import Split
from drgst.report.explorer.packing import pack, pack_shares
from drgst.report.tsne import positions
from drgst.report.explorer.sampling import Sample, neighbours, take_sample
from drgst.runs.result import Result
from drgst.selftrain.history import Stage

TOP = 5  # likeliest classes of a node that are kept
COST = 38  # bytes of a node in a stage, as text
ROLES = ("other", "training", "validation", "test", "pool")


def sample_of(result: Result) -> Sample:
    """What fits; training and suggested nodes always."""
    must = np.concatenate([result.split.train, result.suggested.nodes])
    place = result.history.stages.index(result.stage)
    return take_sample(result.graph.num_nodes, len(result.history), place, must, COST, result.model.seed)


def node_data(result: Result, sample: Sample) -> dict[str, Any]:
    """Everything that is drawn or told of single nodes; adds to ``sample.notes`` where edges are left out."""
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
        **_beliefs(stages, nodes),
        "trusted": [_trusted(stage, nodes) for stage in stages],
    }


def roles(split: Split, nodes: int) -> np.ndarray:
    """The place of each node's part in ``ROLES``, (N,); a test node that is also in the pool is a test node."""
    role = np.zeros(nodes, dtype=np.uint8)
    for code, part in ((4, split.pool), (1, split.train), (2, split.val), (3, split.test)):
        role[part] = code
    return role


def _beliefs(stages: list[Stage], nodes: np.ndarray) -> dict[str, Any]:
    """The likeliest classes with their probabilities, and the gain, (stages, nodes, …)."""
    best, share, gain = [], [], []
    for stage in stages:
        p = stage.probabilities[nodes]
        order = np.argsort(-p, axis=1, kind="stable")[:, :TOP]
        best.append(order)
        share.append(np.take_along_axis(p, order, axis=1))
        gain.append(stage.all_gain[nodes])
    kind = "u1" if stages[0].logits.shape[1] <= 256 else "u2"
    return {
        "top": pack(np.stack(best), kind),
        "share": pack_shares(np.stack(share)),
        "gain": pack(np.stack(gain), "f4"),
    }


def _trusted(stage: Stage, nodes: np.ndarray) -> dict[str, Any]:
    """Who was trusted in the stage, with which label and weight."""
    here = np.isin(stage.pseudo.nodes, nodes)
    return {
        "node": pack(np.searchsorted(nodes, stage.pseudo.nodes[here]), "u4"),
        "label": pack(stage.pseudo.labels[here], "u2"),
        "weight": pack(stage.weights[here], "f4"),
    }
