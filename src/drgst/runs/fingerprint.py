"""Fingerprints: whether data, labels and split are still those of an earlier run."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.selftrain.problem import Problem


def data_fingerprint(graph: Graph) -> str:
    """SHA-256 of features, edges, relations, node ids and class names; labels are left out."""
    parts: list[Any] = [*_matrix(graph.features), *_matrix(graph.adjacency)]
    parts += ["\n".join(map(str, graph.node_ids.tolist())), "\n".join(graph.class_names)]
    for relation in graph.relations:
        parts += [relation.name, *_matrix(relation.incidence), "\n".join(relation.entities.tolist())]
    return _digest(parts)


def known_fingerprint(problem: Problem) -> str:
    """SHA-256 of the labels that the run is shown, and of training, validation and pool nodes.

    Test nodes and the labels that are hidden are left out: a run that depends on them would be wrong.
    """
    split = problem.split
    return _digest([problem.graph.labels, split.train, split.val, split.pool])


def split_fingerprint(graph: Graph, split: Split) -> str:
    """SHA-256 of training, validation, test and pool nodes and of the labels of the first three."""
    parts = (split.train, split.val, split.test)
    return _digest([*parts, split.pool, *(graph.labels[part] for part in parts)])


def _matrix(matrix: Any) -> list[Any]:
    """Shape and values; indices as 64 bit, so that the width chosen for them does not matter."""
    if sp.issparse(matrix):
        return [repr(matrix.shape), matrix.indptr.astype("<i8"), matrix.indices.astype("<i8"), matrix.data]
    return [repr(matrix.shape), matrix]


def _digest(parts: list[Any]) -> str:
    total = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).data.cast("B")
        total.update(len(raw).to_bytes(8, "little"))
        total.update(raw)
    return total.hexdigest()
