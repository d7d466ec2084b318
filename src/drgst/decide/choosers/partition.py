"""Parts of the graph, one typical node of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.decide.choosers.base import Choice, LabelState, nearest
from drgst.decide.choosers.sample import Random
from drgst.errors import SettingError


@dataclass(frozen=True)
class Partition:
    """The most typical candidate of each of the n largest communities of the graph (GraphPart, Ma et al., 2022).

    Communities by ``rounds`` of label propagation along edges, each node taking the most frequent community of its
    neighbours. Of a community, the candidate nearest to the mean of its representations. Communities with a given label
    come last; further candidates are drawn at random.
    """

    rounds: int = 10

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.adjacency is None:
            raise SettingError("the chooser 'partition' needs the edges of the graph")
        part = communities(state.adjacency, self.rounds, state.rng)
        known = np.isin(part, part[state.labelled])
        order = np.argsort(-(np.bincount(part) - part.size * _any(part, known)), kind="stable")
        of = part[state.candidates]
        chosen: list[int] = []
        for community in order:
            members = state.candidates[of == community]
            if len(chosen) == n:
                break
            if members.size:
                rows = state.representation[members]
                centre = state.representation[part == community].mean(axis=0, keepdims=True)
                chosen.append(int(members[nearest(rows, centre)[1].argmin()]))
        found = Choice.of(np.array(chosen, dtype=np.int64))
        return found if len(chosen) == n else found.then(Random()(state.without(found.nodes), n - len(chosen)))


def communities(adjacency: sp.csr_array, rounds: int, rng: np.random.Generator) -> np.ndarray:
    """A community for every node, (N,), numbered from 0; nodes that no edge joins are of different communities."""
    nodes = adjacency.shape[0]
    part = np.arange(nodes)
    own = sp.csr_array(adjacency + sp.eye_array(nodes, dtype=adjacency.dtype, format="csr"))
    for _ in range(rounds):
        counts = sp.csr_array(own @ sp.csr_array((np.ones(nodes), (np.arange(nodes), part)), shape=(nodes, nodes)))
        counts.data = counts.data + 1e-6 * rng.random(counts.data.size)  # equal counts: a random one
        part = counts.indices[_row_argmax(counts)].astype(np.int64)
    joined = adjacency.tocoo()
    inside = part[joined.row] == part[joined.col]
    edges = sp.csr_array((np.ones(inside.sum()), (joined.row[inside], joined.col[inside])), shape=adjacency.shape)
    from scipy.sparse.csgraph import connected_components  # slow to import

    return connected_components(edges, directed=False)[1].astype(np.int64)


def _row_argmax(matrix: sp.csr_array) -> np.ndarray:
    """The place in ``data`` of the largest entry of each row, none of which is empty."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.data, rows))
    return np.asarray(order[matrix.indptr[1:] - 1])


def _any(part: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Whether a member of each community is ``known``."""
    return np.bincount(part, weights=known) > 0
