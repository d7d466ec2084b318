"""Synthetic graphs: a stochastic block model, and the paper's Gaussian with concentric circles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import SettingError
from drgst.graph.core import Graph, edge_matrix, make_graph


def block_model(nodes: int, edges: int, *, seed: int, **settings: Any) -> Graph:
    """A graph with ``nodes`` nodes and ``edges`` undirected edges; ``settings`` are fields of :class:`BlockModel`."""
    return BlockModel(nodes, edges, **settings).draw(seed)


@dataclass(frozen=True)
class BlockModel:
    """A stochastic block model; X is the sparse 0/1 matrix of the distinct words of each node."""

    nodes: int
    edges: int  # undirected
    classes: int = 5
    homophily: float = 0.8  # share of the edges within a class
    imbalance: float = 1.0  # size of the largest class divided by that of the smallest; sizes fall geometrically
    features: int = 500  # number of words
    words: int = 15  # words that each node draws
    signal: float = 0.5  # probability that a word is drawn from the F/C words of the node's class, else from all words

    def draw(self, seed: int) -> Graph:
        """Draw a graph."""
        self._check()
        rng = np.random.default_rng(seed)
        sizes = self._class_sizes()
        labels = np.repeat(np.arange(self.classes), sizes)
        # Nodes are drawn class by class and then shuffled, with a stream of its own: random_split permutes the nodes by
        # default_rng(seed), and the same permutation would bring them back into the order of their classes.
        place = np.random.default_rng((seed, 1)).permutation(self.nodes)
        shuffled = np.empty_like(labels)
        shuffled[place] = labels
        return Graph(
            features=self._word_matrix(rng, shuffled),
            adjacency=self._adjacency(rng, sizes, place),
            labels=shuffled,
            class_names=tuple(str(c) for c in range(self.classes)),
            node_ids=np.arange(self.nodes),
            name="block-model",
        )

    def _check(self) -> None:
        least = {"classes": 2, "nodes": 2 * self.classes, "edges": 0, "imbalance": 1, "features": self.classes}
        for name, low in (least | {"words": 1}).items():
            if not getattr(self, name) >= low:
                raise SettingError(f"block_model has {name} = {getattr(self, name)}, but at least {low} is needed")
        for name in ("homophily", "signal"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingError(f"block_model has {name} = {getattr(self, name)}, but it must lie between 0 and 1")

    def _class_sizes(self) -> np.ndarray:
        """Sizes that sum to N and fall geometrically from imbalance · s to s, each at least 1, (C,)."""
        share = self.imbalance ** -(np.arange(self.classes) / (self.classes - 1))
        ends = np.rint(np.cumsum(share / share.sum()) * (self.nodes - self.classes)).astype(np.int64)
        return 1 + np.diff(ends, prepend=0)

    def _word_matrix(self, rng: np.random.Generator, labels: np.ndarray) -> sp.csr_array:
        """X, (N, F) CSR of ones."""
        shape, block = (self.nodes, self.words), self.features // self.classes
        keys = rng.integers(0, self.features, shape)
        topical = rng.random(shape, dtype=np.float32) < self.signal
        own = labels[:, None] * block + rng.integers(0, block, shape)
        keys = np.where(topical, own, keys) + np.arange(self.nodes)[:, None] * self.features
        keys = _sorted_distinct(keys.ravel())
        indptr = np.searchsorted(keys, np.arange(self.nodes + 1) * self.features).astype(np.int32)
        columns = (keys % self.features).astype(np.int32)
        ones = np.ones(keys.size, dtype=np.float32)
        return sp.csr_array((ones, columns, indptr), shape=(self.nodes, self.features))

    def _adjacency(self, rng: np.random.Generator, sizes: np.ndarray, place: np.ndarray) -> sp.csr_array:
        """A, (N, N) symmetric CSR with exactly ``edges`` undirected edges."""
        labels = np.repeat(np.arange(self.classes), sizes)
        starts = np.cumsum(sizes) - sizes

        def within(count: int) -> np.ndarray:
            u = rng.integers(0, self.nodes, count)
            c = labels[u]
            v = starts[c] + rng.integers(0, sizes[c])
            return self._keys(u[u != v], v[u != v])

        def across(count: int) -> np.ndarray:
            u = rng.integers(0, self.nodes, count)
            c = labels[u]
            v = rng.integers(0, self.nodes - sizes[c])  # among the nodes of other classes
            return self._keys(u, v + np.where(v >= starts[c], sizes[c], 0))

        inside = round(self.homophily * self.edges)
        same = int((sizes * (sizes - 1) // 2).sum())
        _check_density(inside, same, "within")
        _check_density(self.edges - inside, self.nodes * (self.nodes - 1) // 2 - same, "across")
        keys = np.concatenate([_distinct(rng, within, inside), _distinct(rng, across, self.edges - inside)])
        index = place.astype(np.int32) if self.nodes < 2**31 else place  # 32-bit indices: half the memory
        u, v = index[keys // self.nodes], index[keys % self.nodes]
        both = edge_matrix(np.concatenate([u, v]), np.concatenate([v, u]), self.nodes).tocsr()
        both.sort_indices()
        return both

    def _keys(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """One number for each undirected edge."""
        return np.minimum(u, v) * self.nodes + np.maximum(u, v)


def gaussian_circles(
    *,
    seed: int,
    gaussian: int = 500,
    circles: int = 4000,
    sigma: float = 0.3,
    radii: Sequence[float] = (0.8, 1.0),
    noise: float = 0.1,
    k: int = 10,
) -> Graph:
    """The paper's toy graph: ``gaussian`` nodes from N(0, σ² I) and ``circles`` nodes on concentric circles.

    X is the position in the plane, (N, 2). Class 0 is the Gaussian and each circle is a class; radii have normal noise
    with standard deviation ``noise``. Each node is connected to its ``k`` nearest neighbours.
    """
    if gaussian < 1 or circles < len(radii) or len(radii) < 1 or not 1 <= k < gaussian + circles:
        raise SettingError("gaussian_circles needs a node for the Gaussian and each circle, and 1 <= k < nodes")
    rng = np.random.default_rng(seed)
    ring = np.arange(circles) % len(radii)
    distance = np.asarray(radii, dtype=float)[ring] + noise * rng.standard_normal(circles)
    angle = rng.uniform(0, 2 * np.pi, circles)
    around = distance[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.concatenate([sigma * rng.standard_normal((gaussian, 2)), around])
    labels = np.concatenate([np.zeros(gaussian, dtype=np.int64), 1 + ring])
    names = ["gaussian", *(f"circle {r:g}" for r in radii)]
    return make_graph(points, _nearest(points, k), labels, class_names=names, name="gaussian-circles")


def _nearest(points: np.ndarray, k: int) -> sp.csr_array:
    """A_uv = 1 if v is among the k nearest points of u, or u among those of v, (N, N)."""
    from scipy.spatial import cKDTree  # slow to import

    near = cKDTree(points).query(points, k=k + 1)[1][:, 1:]
    one_way = edge_matrix(np.repeat(np.arange(len(points)), k), near.ravel(), len(points)).tocsr()
    return one_way.maximum(one_way.T)


def _check_density(count: int, possible: int, kind: str) -> None:
    if count > possible // 2:  # with more, drawing until all are distinct takes too long
        raise SettingError(f"{count} edges {kind} classes were asked for; at most half of the {possible} pairs may be")


def _distinct(rng: np.random.Generator, draw: Callable[[int], np.ndarray], count: int) -> np.ndarray:
    """``count`` distinct keys from ``draw``: drawn until there are enough, a surplus removed at random."""
    keys = np.empty(0, dtype=np.int64)
    while keys.size < count:
        keys = _sorted_distinct(np.concatenate([keys, draw((count - keys.size) * 11 // 10 + 16)]))
    surplus = rng.choice(keys.size, keys.size - count, replace=False)
    return np.delete(keys, surplus)


def _sorted_distinct(keys: np.ndarray) -> np.ndarray:
    """``np.unique`` by sorting, which is several times faster than its hash table if nearly all keys differ."""
    keys.sort()
    keep = np.ones(keys.size, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    return keys[keep]
