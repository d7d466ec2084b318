"""Views of a graph: representations of its nodes, each by its own notion of similarity."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError, SettingError
from drgst.graph.core import Features, Graph
from drgst.selftrain.learners.multiview.ridge import ridge_map
from drgst.selftrain.learners.multiview.view_maps import ViewMaps
from drgst.shards import ALONE, Shards
from drgst.transforms.feature_map import FeatureMap
from drgst.transforms.features import FEW_ROUNDS, project, projection, row_l2, svd
from drgst.transforms.homophily import homophily
from drgst.transforms.knn import EXACT_NODES, knn_adjacency
from drgst.transforms.neighbour_words import neighbour_idf, neighbour_words, scaled_neighbour_words
from drgst.transforms.normalise import mean_norm, sym_norm, sym_norm_without_loops
from drgst.transforms.products import (
    MANY_ROWS,
    Storage,
    as_float32,
    divide_rows,
    gram,
    multiply_rows,
    multiply_sparse,
    release,
    row_blocks,
)
from drgst.transforms.propagate import MatrixSum, polynomials, restart_coefficients, shortened
from drgst.transforms.rank_normalise import informative

RESTART, STEPS = 0.15, 20  # restart probability α and steps of propagations: experiments 024 and 034
NEIGHBOURS = 10  # of the kNN view: experiment 009
LEADING_COLUMNS = 64  # of structure, and of the embedding that is shown
MAX_COLUMNS, MIN_COLUMNS = 256, 32  # of a representation
WIDE_NODES = MANY_ROWS  # up to which representations are stored in 32 bits and propagated by all steps
SHORT_DEGREE = 10  # of the polynomials above: they differ from those of 20 steps by at most 0.0025
MAPPED_NODES = 4_000_000  # above which representations are mapped files, and a model leaves out vectors of its nodes

VIEWS = ("topology", "knn", "hops", "features", "structure", "neighbours")
PROPAGATED = ("topology", "knn", "neighbours")
HOPS = ("x", "first", "second")  # parts of the view hops
ODDS = 10.0  # of homophilous edges where a pair of neighbours is as often similar as not
_FEATURES = ("topology", "knn", "hops", "features")
_EDGES = ("topology", "hops", "structure", "neighbours")
_OWN_NODES = ("structure", "neighbours")  # their columns are the nodes of the fitted graph


def available_views(graph: Graph) -> tuple[str, ...]:
    """The views that ``graph`` allows: by its features, its edges and, for kNN, its number of nodes."""
    features, edges = informative(graph.features), graph.num_edges > 0
    names = [v for v in VIEWS if (features or v not in _FEATURES) and (edges or v not in _EDGES)]
    if graph.num_nodes <= 2 or (graph.num_nodes > EXACT_NODES and find_spec("faiss") is None):
        names = [v for v in names if v != "knn"]
    return tuple(names)


def matching_views(graph: Graph, name: str) -> tuple[str, ...]:
    """The views of ``graph`` that ``name`` stands for: all for ``auto``, else one, or several by +."""
    available = available_views(graph)
    if not available:
        raise GraphError(f"{graph.name!r} has neither edges nor features that some nodes share")
    if name == "auto":
        return available
    chosen = name.split("+")
    wrong = [part for part in chosen if part not in available]
    if wrong:
        raise SettingError(f"this graph has no view {wrong[0]!r} (allowed: {', '.join(sorted(available))}, auto)")
    return tuple(v for v in available if v in chosen)


def columns_kept(nodes: int) -> int:
    """min(256, max(32, 256 √(30,000 / N))): 99 for 200,000 nodes, 44 for 1 million."""
    return min(MAX_COLUMNS, max(MIN_COLUMNS, int(MAX_COLUMNS * math.sqrt(EXACT_NODES / max(nodes, 1)))))


class Views:
    """The representations of a graph's nodes, z, (N, D) with centred rows of unit length, each made once.

    ``topology``: Π X M, Π = α Σ_k (1-α)^k Â^k, M the :func:`~.ridge.ridge_map` of Π X on X. ``knn``: the same over the
    edges of the 10 nearest nodes by cosine. ``hops``: [X, D^-1 A X, (D^-1 A)² X], where a neighbour may count against a
    class, reduced to the leading columns of its SVD. ``features``: X alone. ``structure``: leading singular vectors of
    D^-½ A D^-½, from edges alone. ``neighbours``: Π X M, where the features of a node are its neighbours (TF-IDF of A +
    I), from edges alone. X is the :class:`~drgst.transforms.feature_map.FeatureMap` of the features.

    With several ``shards``, each propagates its own columns, holds its own rows and computes all singular vectors.
    """

    def __init__(self, graph: Graph, maps: ViewMaps | None = None, shards: Shards = ALONE) -> None:
        self.graph, self.maps, self.shards = graph, maps or ViewMaps(), shards
        self._made: dict[str, np.ndarray] = {}
        self._smoother: tuple[tuple[float, float], sp.csr_array | None] = (0.0, 0.0), None  # weights, and the last one
        self._large = graph.num_nodes > WIDE_NODES
        self._old = self.maps.fitted_nodes(graph)

    def __getitem__(self, name: str) -> np.ndarray:
        """The representation of that view."""
        if name not in self._made:
            self._make(name)
        return self._made[name]

    def leading(self, name: str, columns: int) -> np.ndarray:
        """The first ``columns`` of that view as they are stored, (N, ≤columns); the same array for every call."""
        key = f"{name}, {columns} columns"
        if key not in self._made:
            self._made[key] = self.shards.all_rows(np.ascontiguousarray(self[name][:, :columns]), self.graph.num_nodes)
        return self._made[key]

    def smoother(self, weights: Mapping[str, float]) -> sp.csr_array | MatrixSum | None:
        """Σ_v w_v S_v / Σ_v w_v over the views v that propagate over S_v; None where none does.

        Of a large graph as a :data:`~drgst.transforms.propagate.MatrixSum`, since it has as many entries as both.
        """
        knn = weights.get("knn", 0.0)
        edges = weights.get("topology", 0.0) + weights.get("neighbours", 0.0)
        if not knn + edges:
            return None
        if not knn or not edges:
            return self._edges if edges else self._knn
        if self._large:
            return (edges / (knn + edges), self._edges), (knn / (knn + edges), self._knn)
        if self._smoother[0] != (edges, knn):
            s = sp.csr_array((edges * self._edges + knn * self._knn) / np.float32(knn + edges))
            self._smoother = (edges, knn), s
        return self._smoother[1]

    def default_weights(self) -> dict[str, float]:
        """View -> weight before any label is seen: τ for topology, τ / (1 - τ) = 10 (a / (1 - a))²; equal for others.

        a = 2h - 1 for the :func:`~drgst.transforms.homophily.homophily` h of edges by features, which is 0 where
        edges join no more similar nodes than chance and 1 where they always do. Without features, τ is the weight of
        neighbours, and h is by structure (experiment 028).
        """
        names = available_views(self.graph)
        relies, by = ("topology", "features") if "topology" in names else ("neighbours", "structure")
        if not {relies, by} <= set(names):
            return dict.fromkeys(names, 1 / len(names))
        rng = np.random.default_rng(0)
        h = homophily(self.graph.adjacency, self[by], self.graph.num_classes, rng, self.shards)
        a = max(2 * h - 1, 0.0)
        share = ODDS * a * a / (ODDS * a * a + (1 - a) ** 2)
        return {name: share if name == relies else (1 - share) / (len(names) - 1) for name in names}

    def carried_over(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the fitted views that this graph allows; a warning names the others."""
        names, allowed = tuple(names), set(available_views(self.graph))
        kept = tuple(v for v in names if v in allowed and (v not in _OWN_NODES or self._can_carry(v)))
        lost = [v for v in names if v not in kept]
        if not kept:
            raise GraphError(f"none of the model's views ({', '.join(names)}) can be made of {self.graph.name!r}")
        if lost:
            why = "which holds other nodes than the fitted graph" if set(lost) <= set(_OWN_NODES) else "as it is"
            message = f"the views {', '.join(lost)} can't be made of {self.graph.name!r}, {why}; the others stand in"
            warnings.warn(message, stacklevel=2)
        return kept

    def _can_carry(self, name: str) -> bool:
        return f"{name}.vectors" in self.maps.arrays and self.maps.are_of_the_first_nodes(self.graph)

    @cached_property
    def _storage(self) -> Storage:
        if self.graph.num_nodes > MAPPED_NODES:
            self._folder = TemporaryDirectory(prefix="drgst-views-", ignore_cleanup_errors=True)  # deleted with this
            return Storage("float16", Path(self._folder.name))
        return Storage("float16" if self._large else "float32")

    @cached_property
    def _feature_map(self) -> FeatureMap:
        known = self.maps.under("features.")
        if known:
            return FeatureMap.of(known)
        made = FeatureMap.fit(self.graph.features, columns_kept(self.graph.num_nodes))
        self.maps.arrays |= {f"features.{name}": array for name, array in made.arrays().items()}
        return made

    @cached_property
    def _table(self) -> np.ndarray:
        """The own columns."""
        return self._feature_map(self.graph.features, self.shards.columns(self._feature_map.width))

    def _whole_table(self) -> np.ndarray:
        return self._table if self.shards.size == 1 else self._feature_map(self.graph.features)

    def _own_rows(self, x: np.ndarray) -> np.ndarray:
        return x[self.shards.rows(x.shape[0])]

    @cached_property
    def _edges(self) -> sp.csr_array:
        return sym_norm(self.graph.adjacency)

    @cached_property
    def _knn(self) -> sp.csr_array:
        rows: Features = self._feature_map.weighted(self.graph.features)
        k = min(NEIGHBOURS, self.graph.num_nodes - 1)
        return sym_norm(knn_adjacency(rows, k, reduced=self._whole_table, shards=self.shards))

    def _make(self, name: str) -> None:
        if name in _OWN_NODES and self.graph.num_nodes > MAPPED_NODES:
            self.__dict__.pop("_table", None)  # made again should another view need it
        if name in ("topology", "knn"):
            self._propagated(name, self._edges if name == "topology" else self._knn, self._table)
        elif name == "neighbours":
            table = self._neighbour_table()
            self._propagated(name, self._edges, table[:, self.shards.columns(table.shape[1])])
        elif name == "features":
            self._made[name] = self._own_rows(self._centred(name, self._whole_table()))
        elif name == "hops":
            self._made[name] = self._reduced(name, self._hops() if self.shards.size == 1 else self._shared_hops())
        else:
            self._made[name] = self._own_rows(self._centred(name, self._positions()))
        if self.graph.num_nodes > MAPPED_NODES:
            self.maps.arrays.pop(f"{name}.vectors", None)

    def _propagated(self, name: str, s: sp.csr_array, x: np.ndarray) -> None:
        coefficients = restart_coefficients(RESTART, STEPS)
        if self._large:
            coefficients = shortened(coefficients, SHORT_DEGREE)
        known = [self.maps.arrays.get(f"{name}.mean")]
        (z,), (mean,) = polynomials(s, x, [coefficients], self._storage, name, known, self.shards)
        self.maps.arrays[f"{name}.mean"] = _joined(mean, self.shards)
        self._made[name] = self._mapped(name, x, z)
        release(z)

    def _mapped(self, name: str, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """z_i M / ‖z_i M‖₂ in place, M the :func:`~.ridge.ridge_map` of z on x.

        Directions in which a node and its surroundings agree keep their length, noise gets shorter (experiment 034).
        """
        weight = self.maps.learn(f"{name}.map", lambda: ridge_map(self.shards.to_rows(x, z.shape[1]), z, self.shards))
        for rows in row_blocks(*z.shape):
            z[rows] = row_l2(as_float32(z[rows]) @ weight)
        return z

    def _reduced(self, name: str, z: np.ndarray) -> np.ndarray:
        """Z V, (N, k), with the leading singular vectors V of Z, where Z has more than k columns."""
        width = columns_kept(self._old)

        def vectors() -> np.ndarray:
            _, v = np.linalg.eigh(self.shards.sum(gram(z)))  # Zᵀ Z = V Σ² Vᵀ, in ascending order
            return np.ascontiguousarray(v[:, -width:][:, ::-1], dtype=np.float32)

        if z.shape[1] <= width:
            return z
        weight, out = self.maps.learn(f"{name}.columns", vectors), self._storage.empty((z.shape[0], width), name)
        return multiply_rows(z, weight, out)

    def _centred(self, name: str, x: np.ndarray, out: np.ndarray | None = None, scale: float = 1.0) -> np.ndarray:
        """Centred rows of length ``scale``, in ``out`` where it is given."""
        mean = self.maps.learn(f"{name}.mean", lambda: x.mean(axis=0, dtype=np.float64).astype(np.float32))
        out = self._storage.empty(x.shape, name) if out is None else out
        for rows in row_blocks(*x.shape):
            out[rows] = row_l2(x[rows] - mean) * np.float32(scale)
        return out

    def _hops(self) -> np.ndarray:
        mean, x = mean_norm(self.graph.adjacency), self._table
        width = x.shape[1]
        z = self._storage.empty((x.shape[0], len(HOPS) * width), "all hops")
        for k, part in enumerate(HOPS):
            x = (multiply_sparse(mean, x) if self._large else mean @ x) if k else x
            own = z[:, k * width : (k + 1) * width]
            self._centred(f"hops.{part}", x, own, np.sqrt(1 / len(HOPS)))
        release(z)
        return z

    def _shared_hops(self) -> np.ndarray:
        """:meth:`_hops` with several shards: the own columns of each part, then all columns of the own rows."""
        mean, x, found = mean_norm(self.graph.adjacency), self._table, []
        for k, part in enumerate(HOPS):
            x = multiply_sparse(mean, x) if k else x
            centre = x.mean(axis=0, dtype=np.float64).astype(np.float32)
            y = x - centre
            self.maps.arrays[f"hops.{part}.mean"] = _joined(centre, self.shards)
            divide_rows(y, len(HOPS) * self.shards.sum(np.einsum("ij,ij->i", y, y, dtype=np.float64)))
            y = y.astype(self._storage.dtype)
            found.append(self.shards.to_rows(y, self._feature_map.width))
        return np.hstack(found)

    def _positions(self) -> np.ndarray:
        """S V of S = D^-½ A D^-½ ≈ U Σ Vᵀ, (N, 64); of new nodes by their edges to old ones."""
        s = sym_norm_without_loops(self.graph.adjacency)
        width = min(LEADING_COLUMNS, s.shape[0] - 1)
        width = min(width, columns_kept(s.shape[0])) if self._large else width

        def vectors() -> np.ndarray:
            leading = svd(s, width, seed=0, rounds=FEW_ROUNDS, symmetric=self._large)
            sums = np.einsum("ij,ij->j", leading, leading) if self._large else (leading * leading).sum(axis=0)
            squares = np.maximum(sums, np.finfo(np.float32).tiny)
            found = multiply_sparse(s, leading) if self._large else s @ leading
            return np.asarray(np.divide(found, squares, out=found), dtype=np.float32)

        vectors_ = self.maps.learn("structure.vectors", vectors)
        s = s if self._old == s.shape[0] else s[:, : self._old]
        return multiply_sparse(s, vectors_) if self._large else np.asarray(s @ vectors_)

    def _neighbour_table(self) -> np.ndarray:
        """The neighbours of each node as its words, reduced to 256 columns; new nodes are no columns of it."""
        a = self.graph.adjacency
        idf, fitted = self.maps.learn("neighbours.idf", lambda: neighbour_idf(a)), self._old == a.shape[0]
        x = scaled_neighbour_words(a, self._edges, idf) if self._large and fitted else neighbour_words(a, idf)
        if "neighbours.vectors" not in self.maps.arrays:
            vectors = projection(x, columns_kept(self._old))
            self.maps.arrays["neighbours.vectors"] = np.zeros((0, 0), np.float32) if vectors is None else vectors
        vectors = self.maps.arrays["neighbours.vectors"]
        return project(x, vectors if vectors.size else None)


def _joined(own: np.ndarray, shards: Shards) -> np.ndarray:
    """The columns of all shards, (D,), from the own ones, (d,)."""
    width = int(shards.sum(np.array(own.size)))
    return shards.to_rows(np.repeat(own[None], shards.size, axis=0), width)[0] if shards.size > 1 else own
