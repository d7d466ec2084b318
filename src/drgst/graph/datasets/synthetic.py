"""Graphs made to order: a block model of any size, and the paper's Gaussian in circles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from drgst.errors import SettingError
from drgst.graph.core import Graph, make_graph

Draw = Callable[[int], np.ndarray]


def block_model(
    nodes: int,
    edges: int,
    *,
    seed: int,
    classes: int = 5,
    homophily: float = 0.8,
    imbalance: float = 1.0,
    features: int = 500,
    words: int = 15,
    signal: float = 0.5,
) -> Graph:
    """A stochastic block model with ``edges`` undirected pairs, of which the share ``homophily`` is within a class.

    The largest class has ``imbalance`` times the nodes of the smallest, in geometric steps between. Each node
    draws ``words`` words out of ``features``: with probability ``signal`` from the F/C words of its class, else
    from all; X is the sparse 0/1 matrix of words a node has, so that a row sums to ``words`` at most.
    """
    _check(nodes, edges, classes, homophily, imbalance, features, words, signal)
    rng = np.random.default_rng(seed)
    sizes = _class_sizes(nodes, classes, imbalance)
    labels = np.repeat(np.arange(classes), sizes)
    place = rng.permutation(nodes)  # nodes are drawn class by class and then shuffled
    shuffled = np.empty_like(labels)
    shuffled[place] = labels
    return Graph(
        features=_words(rng, shuffled, classes, features, words, signal),
        adjacency=_edges(rng, labels, sizes, place, edges, homophily),
        labels=shuffled,
        class_names=tuple(str(c) for c in range(classes)),
        node_ids=np.arange(nodes),
        name="block-model",
    )


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
    """The paper's toy: ``gaussian`` nodes from N(0, σ² I) and ``circles`` nodes on concentric circles around them.

    X is the place in the plane, (N, 2); class 0 is the Gaussian, every circle is a class of its own (the radius
    is off by ``noise`` times a standard normal); edges join each node with its ``k`` nearest.
    """
    if gaussian < 1 or circles < len(radii) or len(radii) < 1 or not 1 <= k < gaussian + circles:
        raise SettingError("gaussian_circles needs a node for the Gaussian and each circle, and 1 <= k < nodes")
    rng = np.random.default_rng(seed)
    ring = np.arange(circles) % len(radii)
    distance = np.asarray(radii, dtype=float)[ring] + noise * rng.standard_normal(circles)
    angle = rng.uniform(0, 2 * np.pi, circles)
    around = distance[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    places = np.concatenate([sigma * rng.standard_normal((gaussian, 2)), around])
    labels = np.concatenate([np.zeros(gaussian, dtype=np.int64), 1 + ring])
    names = ["gaussian", *(f"circle {r:g}" for r in radii)]
    return make_graph(places, _nearest(places, k), labels, class_names=names, name="gaussian-circles")


def _nearest(places: np.ndarray, k: int) -> sp.coo_array:
    """1 between each point and its k nearest, both ways."""
    from scipy.spatial import cKDTree  # only this toy needs it

    near = cKDTree(places).query(places, k=k + 1)[1][:, 1:]
    rows = np.repeat(np.arange(len(places)), k)
    one_way = sp.csr_array((np.ones(rows.size), (rows, near.ravel())), shape=(len(places), len(places)))
    return one_way.maximum(one_way.T)


def _class_sizes(nodes: int, classes: int, imbalance: float) -> np.ndarray:
    """Sizes that sum to ``nodes`` and fall geometrically from imbalance · s to s, none below 1."""
    share = imbalance ** -(np.arange(classes) / (classes - 1))
    ends = np.rint(np.cumsum(share / share.sum()) * (nodes - classes)).astype(np.int64)
    return 1 + np.diff(ends, prepend=0)


def _edges(
    rng: np.random.Generator, labels: np.ndarray, sizes: np.ndarray, place: np.ndarray, edges: int, homophily: float
) -> sp.csr_array:
    """A, (N, N) symmetric CSR, with exactly ``edges`` pairs."""
    nodes = labels.size
    starts = np.cumsum(sizes) - sizes

    def within(count: int) -> np.ndarray:
        u = rng.integers(0, nodes, count)
        c = labels[u]
        v = starts[c] + rng.integers(0, sizes[c])
        return _pair_keys(u[u != v], v[u != v], nodes)

    def across(count: int) -> np.ndarray:
        u = rng.integers(0, nodes, count)
        c = labels[u]
        v = rng.integers(0, nodes - sizes[c])  # among the nodes of other classes
        return _pair_keys(u, v + np.where(v >= starts[c], sizes[c], 0), nodes)

    inside = round(homophily * edges)
    same = int((sizes * (sizes - 1) // 2).sum())
    keys = np.concatenate(
        [
            _distinct(rng, within, inside, same, "within"),
            _distinct(rng, across, edges - inside, nodes * (nodes - 1) // 2 - same, "across"),
        ]
    )
    index = place.astype(np.int32) if nodes < 2**31 else place  # 32-bit indices: half the memory
    u, v = index[keys // nodes], index[keys % nodes]
    both = sp.coo_array(
        (np.ones(2 * edges, dtype=np.float32), (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(nodes, nodes)
    ).tocsr()
    both.sort_indices()
    return both


def _pair_keys(u: np.ndarray, v: np.ndarray, nodes: int) -> np.ndarray:
    """One number for each undirected pair."""
    return np.minimum(u, v) * nodes + np.maximum(u, v)


def _distinct(rng: np.random.Generator, draw: Draw, count: int, possible: int, kind: str) -> np.ndarray:
    """``count`` distinct keys of ``draw``, drawing until there are enough and leaving out the surplus at random."""
    if count > possible // 2:  # beyond, drawing until distinct takes too long
        raise SettingError(f"{count} edges {kind} classes were asked for; at most half of the {possible} pairs may be")
    keys = np.empty(0, dtype=np.int64)
    while keys.size < count:
        keys = _sorted_distinct(np.concatenate([keys, draw((count - keys.size) * 11 // 10 + 16)]))
    surplus = rng.choice(keys.size, keys.size - count, replace=False)
    return np.delete(keys, surplus)


def _sorted_distinct(keys: np.ndarray) -> np.ndarray:
    """np.unique by sorting: its hash table is several times slower where nearly all keys differ."""
    keys.sort()
    keep = np.ones(keys.size, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    return keys[keep]


def _words(
    rng: np.random.Generator, labels: np.ndarray, classes: int, features: int, words: int, signal: float
) -> sp.csr_array:
    """X, (N, F) CSR of ones."""
    nodes, block = labels.size, features // classes
    keys = rng.integers(0, features, (nodes, words))
    topical = rng.random((nodes, words), dtype=np.float32) < signal
    own = labels[:, None] * block + rng.integers(0, block, (nodes, words))
    keys = np.where(topical, own, keys) + np.arange(nodes)[:, None] * features
    keys = _sorted_distinct(keys.ravel())
    indptr = np.searchsorted(keys, np.arange(nodes + 1) * features)
    columns = (keys % features).astype(np.int32)
    return sp.csr_array(
        (np.ones(keys.size, dtype=np.float32), columns, indptr.astype(np.int32)), shape=(nodes, features)
    )


def _check(
    nodes: int, edges: int, classes: int, homophily: float, imbalance: float, features: int, words: int, signal: float
) -> None:
    least = {"classes": (classes, 2), "nodes": (nodes, 2 * classes), "edges": (edges, 0), "imbalance": (imbalance, 1)}
    least |= {"features": (features, classes), "words": (words, 1)}
    for name, (value, low) in least.items():
        if not value >= low:
            raise SettingError(f"block_model has {name} = {value}, but at least {low} is needed")
    for name, value in (("homophily", homophily), ("signal", signal)):
        if not 0 <= value <= 1:
            raise SettingError(f"block_model has {name} = {value}, but it must lie between 0 and 1")
