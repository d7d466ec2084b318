"""Views of a graph: representations of its nodes, each view with its own notion of similarity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features, Graph
from drgst.graph.transforms.features import centre, reduce_columns, row_l1, row_l2, standardise, svd, tfidf
from drgst.graph.transforms.knn import knn_adjacency
from drgst.graph.transforms.normalise import mean_norm, sym_norm, sym_norm_without_loops
from drgst.graph.transforms.propagate import propagate
from drgst.graph.transforms.rank_normalise import informative, rank_normalise

MAX_COLUMNS = 256  # of a feature table
MIN_COLUMNS = 32
FULL_WIDTH_NODES = 200_000  # up to which tables have all columns: all views then take 2.4 GB and a run 5
RESTARTS = ((0.1, 20), (0.3, 10))  # restart probability and steps of the propagation: long and short range
STRUCTURE_COLUMNS = 64
NEIGHBOURS = 10  # of the kNN view
KNN_NODES = 30_000  # above which exact neighbours cost more than the rest of a run

SIMPLE = ("topology", "knn", "features", "hops", "structure", "neighbours")
COMPOUND: dict[str, tuple[float, ...]] = {  # name -> weights of its views
    "topology+knn": (1.0, 1.0),  # the second divided by 1 + degree
    "knn+hops+structure": (4.0, 2.0, 1.0),
    "topology+knn+hops+structure": (2.0, 2.0, 2.0, 1.0),
}

Tables = tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class View:
    """Representations of the nodes under one notion of similarity, and the weight of the view: a number, or (N,)."""

    representations: Tables  # each (N, D) with centred unit rows
    weight: float | np.ndarray = 1.0


@dataclass(frozen=True, eq=False)
class ViewSet:
    """One view or several, and the Â over which log-probabilities are smoothed."""

    views: tuple[View, ...]
    smoother: sp.csr_array | None = None

    @property
    def representations(self) -> Tables:
        """Of all views."""
        return tuple(z for view in self.views for z in view.representations)

    def weights(self) -> np.ndarray:
        """s_g(u) = w_g(u) / Σ_h w_h(u) for the weight w_g of each view, (G, N) or (G, 1)."""
        raw = np.stack(np.broadcast_arrays(*(np.atleast_1d(view.weight) for view in self.views)))
        return np.asarray(raw / raw.sum(axis=0), dtype=np.float64)


def make_views(graph: Graph, names: Iterable[str] | None = None) -> dict[str, ViewSet]:
    """Name -> views, for every name that the graph allows, or for ``names``.

    ``topology``, ``knn``: Π X with Π = α Σ_k (1-α)^k Â^k at long range (α = 0.1) and short range (0.3), over the
    graph's edges, or over those of the 10 nearest nodes by cosine. ``features``: X alone. ``hops``: [X, D^-1 A X,
    (D^-1 A)² X], where a neighbour may also count against a class. X is once TF-IDF and once the row-normalised
    features, each reduced to 256 columns; numeric features are rank-normalised first. ``structure``: leading singular
    vectors of D^-½ A D^-½, from edges alone. ``neighbours``: ``structure`` and Π X of the TF-IDF of A + I, where the
    features of a node are its neighbours, from edges alone. ``topology+knn``: both, kNN with weight 1 / (1 + degree),
    so that it counts where edges are few. ``knn+hops+structure``: with weights 4, 2, 1, for heterophilous graphs.
    ``topology+knn+hops+structure``: with weights 2, 2, 2, 1.
    """
    wanted = available_views(graph) if names is None else tuple(names)
    maker = _Maker(graph)
    simple = {part: getattr(maker, part)() for part in dict.fromkeys(p for name in wanted for p in name.split("+"))}
    return {name: simple[name] if name in simple else _compound(name, simple, graph.degrees) for name in wanted}


def available_views(graph: Graph) -> tuple[str, ...]:
    """The names that ``graph`` allows: by its features, its edges and, for kNN, its number of nodes."""
    features, edges = informative(graph.features), graph.num_edges > 0
    needs = (features and edges, features and 2 < graph.num_nodes <= KNN_NODES, features, features and edges)
    allowed = dict(zip(SIMPLE, (*needs, edges, edges), strict=True))
    compounds = (name for name in COMPOUND if all(allowed[part] for part in name.split("+")))
    return (*(name for name in SIMPLE if allowed[name]), *compounds)


def feature_tables(x: Features) -> Tables:
    """X twice, each (N, ≤256): TF-IDF with unit rows, and rows divided by their sums.

    Where a feature is negative, TF-IDF does not apply: unit rows of the standardised and of the raw features instead.
    """
    values = x if isinstance(x, np.ndarray) else x.data
    if values.size and values.min() < 0:
        tables = (row_l2(standardise(x)), row_l2(x))
    else:
        tables = (row_l2(tfidf(x)), row_l1(x))
    return tuple(reduce_columns(table, columns_kept(x.shape[0])) for table in tables)


def columns_kept(nodes: int) -> int:
    """min(256, max(32, 256 · 200,000 / N))."""
    return min(MAX_COLUMNS, max(MIN_COLUMNS, MAX_COLUMNS * FULL_WIDTH_NODES // max(nodes, 1)))


class _Maker:
    """One method per simple view; what several need is computed once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @cached_property
    def x(self) -> Features:
        return rank_normalise(self.graph.features)

    @cached_property
    def tables(self) -> Tables:
        return feature_tables(self.x)

    def topology(self) -> ViewSet:
        return _propagated(self.graph.adjacency, self.tables)

    def knn(self) -> ViewSet:
        near = knn_adjacency(tfidf(self.x), min(NEIGHBOURS, self.graph.num_nodes - 1))
        return _propagated(near, self.tables)

    def features(self) -> ViewSet:
        return _view_set(tuple(centre(x) for x in self.tables))

    def hops(self) -> ViewSet:
        mean = mean_norm(self.graph.adjacency)
        near = [(x, mean @ x) for x in self.tables]
        hops = [np.concatenate([centre(x), centre(y), centre(mean @ y)], axis=1) for x, y in near]
        return _view_set(tuple(centre(z) for z in hops))

    def structure(self) -> ViewSet:
        s = sym_norm_without_loops(self.graph.adjacency)
        return _view_set((centre(svd(s, min(STRUCTURE_COLUMNS, s.shape[0] - 1), seed=0, rounds=3)),))

    def neighbours(self) -> ViewSet:
        a = self.graph.adjacency
        own = sp.eye_array(a.shape[0], dtype=np.float32, format="csr")
        table = reduce_columns(row_l2(tfidf(sp.csr_array(a + own))), columns_kept(a.shape[0]))
        smoothed = _propagated(a, (table,))
        return _view_set((*smoothed.representations, *self.structure().representations), smoothed.smoother)


def _propagated(adjacency: sp.csr_array, tables: Tables) -> ViewSet:
    s = sym_norm(adjacency)
    return _view_set(tuple(centre(propagate(s, x, 1 - alpha, n)) for alpha, n in RESTARTS for x in tables), s)


def _view_set(representations: Tables, smoother: sp.csr_array | None = None) -> ViewSet:
    return ViewSet((View(representations),), smoother)


def _compound(name: str, simple: Mapping[str, ViewSet], degrees: np.ndarray) -> ViewSet:
    """Several views with their weights; log-probabilities are smoothed over the edges of the first."""
    parts = name.split("+")
    weights: tuple[float | np.ndarray, ...] = COMPOUND[name]
    if name == "topology+knn":
        weights = (1.0, 1.0 / (1.0 + degrees))
    views = (View(simple[part].representations, weight) for part, weight in zip(parts, weights, strict=True))
    return ViewSet(tuple(views), simple[parts[0]].smoother)
