"""The invariants of a graph, and one sentence for each that is broken."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError

if TYPE_CHECKING:
    from drgst.graph.core import Features, Graph

LONGEST_CLASS = 10_000  # characters of the name of a class, which predictions repeat for every node
FIELDS = ("features", "adjacency", "labels", "class_names", "node_ids", "splits", "relations")  # that have invariants


def check(g: Graph, changed: Collection[str] = FIELDS) -> None:
    """Check the invariants of :class:`Graph` that concern the fields ``changed``."""
    a, count = g.adjacency, g.adjacency.shape[0]
    if count == 0:
        raise GraphError("the graph is empty: it has no nodes")
    if g.features.ndim != 2 or g.features.shape[0] != count:
        raise GraphError(f"features have shape {g.features.shape}, but the graph has {count} nodes")
    if g.labels.shape != (count,):
        raise GraphError(f"there are {g.labels.size} labels for {count} nodes")
    if g.node_ids.shape != (count,):
        raise GraphError(f"there are {g.node_ids.size} node ids for {count} nodes")
    for relation in g.relations:
        if relation.incidence.shape[0] != count:
            raise GraphError(f"the relation {relation.name!r} has {relation.incidence.shape[0]} rows for {count} nodes")
    if len({relation.name for relation in g.relations}) != len(g.relations):
        raise GraphError("two relations have the same name")
    if "features" in changed and not np.isfinite(stored_values(g.features)).all():
        raise GraphError(f"feature of node {g.node_ids[_not_finite_row(g.features)]!s} is NaN or infinite")
    if "labels" in changed or "class_names" in changed:
        _check_labels(g)
    if "node_ids" in changed:
        _check_ids(g.node_ids)
        unique, counts = np.unique(g.node_ids, return_counts=True)
        if unique.size != count:
            raise GraphError(f"node id {unique[counts > 1][0]!s} occurs more than once")
    if "adjacency" in changed:
        _check_edges(a, count)
    for split in g.splits if "splits" in changed or "adjacency" in changed else ():
        split.check_range(count)


def _check_edges(a: sp.csr_array, count: int) -> None:
    if a.nnz and (a.indices.min() < 0 or a.indices.max() >= count):
        raise GraphError("an edge leads to a node outside the graph")
    if a.nnz and a.diagonal().any():
        raise GraphError("the adjacency has self-loops; make the graph with make_graph")
    if not _symmetric(a):
        raise GraphError("the adjacency is not symmetric; make the graph with make_graph")


def _check_ids(ids: np.ndarray) -> None:
    if ids.dtype.kind in "iu":
        if ids.min() < 0:
            raise GraphError(f"node id {ids.min()} is negative: ids are numbers of 0 or above, or names")
    elif ids.dtype.kind != "U":
        raise GraphError(f"node ids are of type {ids.dtype}, but must be whole numbers of 0 or above, or names")
    elif (ids == "").any():
        raise GraphError(f"node {int(np.argmax(ids == '')) + 1} has no id")
    else:
        _check_text("node id", ids.tolist())


def _check_text(kind: str, names: Sequence[str]) -> None:
    """Refuse lone surrogates, which no file can hold."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        bad = next(name for name in names if name.encode(errors="replace").decode() != name)
        raise GraphError(f"the {kind} {bad!a} is not valid text") from None


def _symmetric(a: sp.csr_array) -> bool:
    """A = Aᵀ; with sorted indices the arrays of both agree, which is faster to compare."""
    t = a.T.tocsr()
    same = all(np.array_equal(getattr(a, part), getattr(t, part)) for part in ("indptr", "indices", "data"))
    return same or (a != t).nnz == 0


def _check_labels(g: Graph) -> None:
    low, high = int(g.labels.min()), int(g.labels.max())
    if low < -1:
        raise GraphError(f"label {low} is not allowed: labels are 0 or above, or -1 for unknown")
    if high >= g.num_classes:
        raise GraphError(f"label {high} has no class name: there are {g.num_classes} classes")
    if g.num_classes < 2:
        raise GraphError("there is one class only: at least two are needed")
    if len(set(g.class_names)) != g.num_classes:
        raise GraphError("two classes have the same name")
    longest = max(map(len, g.class_names))
    if longest > LONGEST_CLASS:
        raise GraphError(f"a class name has {longest:,} characters; {LONGEST_CLASS:,} are allowed")
    _check_text("class name", g.class_names)
    _check_text("graph name", [g.name])


def _not_finite_row(features: Features) -> int:
    position = np.flatnonzero(~np.isfinite(stored_values(features).reshape(-1)))[0]
    if isinstance(features, sp.csr_array):
        return int(np.searchsorted(features.indptr, position, side="right") - 1)
    return int(position // features.shape[1])


def stored_values(features: Features) -> np.ndarray:
    """The numbers of X that are stored: all of a dense matrix, the entries of a sparse one."""
    return features.data if isinstance(features, sp.csr_array) else features
