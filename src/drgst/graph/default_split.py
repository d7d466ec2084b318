"""Which split a run takes when nobody hands it one."""

from __future__ import annotations

import numpy as np

from drgst.errors import SplitError
from drgst.graph.core import Graph
from drgst.graph.split import Pool, Split
from drgst.graph.splits import per_class, random_split


def default_split(graph: Graph) -> Split:
    """The split that came with the graph; else every labelled node trains and all others are the pool."""
    if graph.split is not None:
        return graph.split
    known = np.flatnonzero(graph.labels >= 0)
    if known.size == graph.num_nodes:
        raise SplitError(
            f"every node of {graph.name!r} is labelled and no split is given: pass one, or draw one "
            "(--per-class 3 in the shell, drgst.graph.splits.random_split in Python)"
        )
    empty = np.empty(0, dtype=np.int64)
    return Split.of(known, empty, empty, graph.num_nodes, name="labelled nodes train")


def draw_split(graph: Graph, k: int, seed: int, pool: Pool = "unlabelled") -> Split:
    """k training nodes a class: of the split that came with the graph, or of all labelled nodes where none came."""
    if graph.split is not None:
        return per_class(graph, k, seed, pool)
    return random_split(graph, per_class=k, seed=seed, pool=pool)
