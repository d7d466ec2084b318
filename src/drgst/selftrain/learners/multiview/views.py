"""Lenses: the nodes of a graph as rows of numbers, each lens under one idea of what makes two nodes alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features, Graph
from drgst.graph.transforms.features import row_l1, svd, tfidf, unit_rows
from drgst.graph.transforms.rank_normalise import rank_normalised, shared
from drgst.graph.transforms.views import view
from drgst.nn.ops.adjacency import laplacian_norm, mean_norm, sym_norm
from drgst.selftrain.postprocess.smooth import spread

WIDTH = 256  # columns that are kept of the features
ROOM = 200_000  # nodes up to which that many are kept: all lenses then take 2.4 GB and a run 5; of more nodes fewer
LEAST = 32  # columns that are kept of any graph's
REACH = ((0.1, 20), (0.3, 10))  # restart and steps of the smoothing: far, and near
NEIGHBOURS = 10  # of the kNN view
NARROW = 2_000  # columns up to which V comes from the eigenvectors of Xᵀ X
MANY = 30_000  # nodes from which exact neighbours cost more than the rest of a run

Tables = tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class Circle:
    """Lenses that are read together, and how loud they speak at each node: a number, or (N,)."""

    lenses: Tables  # each (N, D) with centred unit rows
    voice: float | np.ndarray = 1.0


@dataclass(frozen=True, eq=False)
class View:
    """The nodes under one idea of similarity, or several: circles of lenses, and the Â to smooth beliefs over."""

    circles: tuple[Circle, ...]
    smoother: sp.csr_array | None = None

    @property
    def lenses(self) -> Tables:
        """Of all circles."""
        return tuple(z for circle in self.circles for z in circle.lenses)

    def shares(self) -> np.ndarray:
        """s_g(u) = v_g(u) / Σ_h v_h(u) of each circle's voice, (G, N) or (G, 1), summing to 1."""
        voices = np.stack(np.broadcast_arrays(*(np.atleast_1d(circle.voice) for circle in self.circles)))
        return np.asarray(voices / voices.sum(axis=0), dtype=np.float64)


def views_of(graph: Graph, names: Iterable[str] | None = None) -> dict[str, View]:
    """Name -> view, for every view that the graph permits, or for those of ``names``.

    ``topology``, ``knn``: Π X with Π = α Σ_k (1-α)^k Â^k, once far (α = 0.1) and once near (0.3), over the graph's
    edges, or over those of the 10 nearest nodes by cosine. ``features``: X alone. ``hops``: [X, D^-1 A X,
    (D^-1 A)² X], where a neighbour may also speak against a class. X is once TF-IDF and once the row-normalised
    features, each reduced to 256 columns; measurements are read as ranks (:mod:`~.rank_normalise`).
    ``structure``: leading singular vectors of D^-½ A D^-½, edges alone. ``neighbours``: that beside Π X, far and near,
    of the TF-IDF of A + I, where a node's words are its neighbours: edges alone, if they join alike nodes.
    ``topology+knn``: both, kNN with the voice 1 / (1 + degree), so that it speaks where edges are few.
    ``knn+hops+structure``: all three, with the voices 4, 2, 1, for graphs whose edges do not join alike nodes.
    ``topology+knn+hops+structure``: all four, with the voices 2, 2, 2, 1, where nobody knows.
    """
    wanted = permitted(graph) if names is None else tuple(names)
    parts = dict.fromkeys(part for name in wanted for part in name.split("+"))
    tables: Tables = ()
    if not parts.keys() <= EDGES_ALONE:
        graph = rank_normalised(graph)
        tables = feature_tables(graph)
    simple = {name: MAKERS[name](graph, tables) for name in parts}
    return {name: simple[name] if name in simple else _compound(name, simple, graph) for name in wanted}


def permitted(graph: Graph) -> tuple[str, ...]:
    """The views that can be had of ``graph``: features, edges or both are needed, and kNN not too many nodes."""
    features, edges = shared(graph), graph.num_edges > 0
    has = {
        "topology": features and edges,
        "knn": features and 2 < graph.num_nodes <= MANY,
        "features": features,
        "hops": features and edges,
        "structure": edges,
        "neighbours": edges,
    }
    compounds = (name for name in VOICES if all(has[part] for part in name.split("+")))
    return (*(name for name, there in has.items() if there), *compounds)


def feature_tables(graph: Graph) -> Tables:
    """X twice, each (N, ≤256): TF-IDF with unit rows, and rows divided by their sums.

    Where a feature is negative, TF-IDF means nothing: columns of mean 0 and variance 1 with unit rows instead
    (their mean stays where they are many and sparse, as they would fill the memory).
    """
    x = graph.features
    values = x if isinstance(x, np.ndarray) else x.data
    if values.size and values.min() < 0:
        return reduced(graph, unit_rows(standardised(x))), reduced(graph, unit_rows(x))
    return reduced(graph, unit_rows(tfidf(graph).features)), reduced(graph, row_l1(graph).features)


def standardised(x: Features) -> Features:
    """(x_ij - m_j) / σ_j, (N, F); x_ij / σ_j where x is sparse with more than 2,000 columns. σ_j = 0 counts as 1."""
    if not isinstance(x, np.ndarray) and x.shape[1] <= NARROW:
        x = x.toarray()
    mean = np.asarray(x.mean(axis=0))
    if isinstance(x, np.ndarray):
        deviation = x.std(axis=0)
        return np.asarray((x - mean) / np.where(deviation > 0, deviation, 1), dtype=np.float32)
    deviation = np.sqrt(np.maximum(np.asarray(x.multiply(x).mean(axis=0)) - mean * mean, 0))
    scaled = x.copy()
    scaled.data = (x.data / np.where(deviation > 0, deviation, 1)[x.indices]).astype(np.float32)
    return scaled


def columns_kept(nodes: int) -> int:
    """min(256, max(32, 256 · 200,000 / N))."""
    return min(WIDTH, max(LEAST, WIDTH * ROOM // max(nodes, 1)))


def reduced(graph: Graph, x: Features) -> np.ndarray:
    """X, or U Σ = X V of its truncated SVD where it has more columns than are kept (256), (N, ≤256) float32."""
    width = columns_kept(graph.num_nodes)
    if min(x.shape) <= width:
        return np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float32)
    if x.shape[1] > NARROW:
        return np.asarray(svd(graph.with_(features=x), width, seed=0, rounds=3).features)
    gram = x.T @ x
    _, v = np.linalg.eigh(np.asarray(gram if isinstance(gram, np.ndarray) else gram.toarray(), dtype=np.float64))
    return np.asarray(x @ v[:, -width:][:, ::-1].astype(np.float32))


def centred(z: np.ndarray) -> np.ndarray:
    """(z_i - z̄) / ‖z_i - z̄‖₂, (N, D) float32."""
    return np.ascontiguousarray(unit_rows(z - z.mean(axis=0)), dtype=np.float32)


def _one(lenses: Tables, smoother: sp.csr_array | None = None) -> View:
    return View((Circle(lenses),), smoother)


def _topology(graph: Graph, tables: Tables) -> View:
    s = sym_norm(graph.adjacency)
    return _one(tuple(centred(spread(s, x, 1 - alpha, rounds)) for alpha, rounds in REACH for x in tables), s)


def _knn(graph: Graph, tables: Tables) -> View:
    return _topology(view(graph, "knn", k=min(NEIGHBOURS, graph.num_nodes - 1)), tables)


def _features(graph: Graph, tables: Tables) -> View:  # noqa: ARG001
    return _one(tuple(centred(x) for x in tables))


def _hops(graph: Graph, tables: Tables) -> View:
    mean = mean_norm(graph.adjacency)

    def seen(x: np.ndarray) -> np.ndarray:
        near = mean @ x
        return np.concatenate([centred(x), centred(near), centred(mean @ near)], axis=1)

    return _one(tuple(centred(seen(x)) for x in tables))


def _structure(graph: Graph, tables: Tables) -> View:  # noqa: ARG001
    s = sp.csr_array(-laplacian_norm(graph.adjacency))
    vectors = svd(graph.with_(features=s), min(64, graph.num_nodes - 1), seed=0, rounds=3).features
    return _one((centred(np.asarray(vectors)),))


def _neighbours(graph: Graph, tables: Tables) -> View:
    own = sp.eye_array(graph.num_nodes, dtype=np.float32, format="csr")
    words = graph.with_(features=sp.csr_array(graph.adjacency + own))
    smoothed = _topology(graph, (reduced(words, unit_rows(tfidf(words).features)),))
    return _one((*smoothed.lenses, *_structure(graph, tables).lenses), smoothed.smoother)


def _compound(name: str, simple: Mapping[str, View], graph: Graph) -> View:
    """The circles of several views, each with its voice; beliefs are smoothed over the first's edges."""
    parts = name.split("+")
    voices = VOICES[name](np.diff(graph.adjacency.indptr))
    circles = (Circle(simple[part].lenses, voice) for part, voice in zip(parts, voices, strict=True))
    return View(tuple(circles), simple[parts[0]].smoother)


MAKERS: dict[str, Callable[[Graph, Tables], View]] = {
    "topology": _topology,
    "knn": _knn,
    "features": _features,
    "hops": _hops,
    "structure": _structure,
    "neighbours": _neighbours,
}
EDGES_ALONE = {"structure", "neighbours"}  # views that do not look at features

VOICES: dict[str, Callable[[np.ndarray], tuple[float | np.ndarray, ...]]] = {  # of each part, from the degrees
    "topology+knn": lambda degrees: (1.0, 1.0 / (1.0 + degrees)),
    "knn+hops+structure": lambda degrees: (4.0, 2.0, 1.0),  # noqa: ARG005
    "topology+knn+hops+structure": lambda degrees: (2.0, 2.0, 2.0, 1.0),  # noqa: ARG005
}
