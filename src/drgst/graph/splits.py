"""Ways to split a graph: the public one, few labels per class as in the paper, at random, from masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from drgst.errors import SplitError
from drgst.graph.core import Graph
from drgst.graph.io.split_files import from_id_files, from_json, load_split, save_split, to_json
from drgst.graph.split import Pool, Split

__all__ = [
    "from_id_files",
    "from_json",
    "from_masks",
    "load_split",
    "per_class",
    "per_class_split",
    "public",
    "public_split",
    "random_split",
    "save_split",
    "to_json",
]


def public(graph: Graph, pool: Pool = "unlabelled") -> Split:
    """The split that came with the data, with the pool rule ``pool``."""
    if graph.split is None:
        raise SplitError(f"graph {graph.name!r} came without a split; make one with random_split")
    graph.split.check(graph)
    return graph.split.with_pool(pool, graph.num_nodes)


def per_class(graph: Graph, k: int, seed: int, pool: Pool = "unlabelled") -> Split:
    """k training nodes per class, drawn from the public training nodes; the undrawn ones join the pool.

    This is the paper's protocol: validation and test nodes stay those of the public split. For one seed the
    draws are nested (those of k = 3 are among those of k = 5). A class with fewer than k public training
    nodes gives all it has (class 68 of CoraFull). Where the public split itself is k per class, it is the draw.
    """
    whole = public(graph, pool)
    y = graph.labels[whole.train]
    counts = np.bincount(y, minlength=graph.num_classes)
    if not 1 <= k <= counts.max():
        raise SplitError(f"per_class is {k}, but the public split allows 1 to {counts.max()} labels per class")
    if _is_k_per_class(counts, k):
        return whole
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(whole.train[y == c])[:k] for c in range(graph.num_classes)]
    return _checked(graph, np.concatenate(drawn), whole.val, whole.test, pool, f"per-class-{k}-seed-{seed}")


def random_split(
    graph: Graph,
    *,
    per_class: int | None = None,
    fraction: float | None = None,
    val: int | float | None = None,
    test: int | float | None = None,
    seed: int,
    floor: int = 1,
    pool: Pool = "unlabelled",
) -> Split:
    """Draw a split of one's own graph from its labelled nodes.

    Training nodes per class: ``per_class``, or ``fraction`` of the class's labelled nodes but never fewer than
    ``floor``; a smaller class gives what it has, one below ``floor`` is refused. ``val`` and ``test`` are numbers of
    nodes or fractions of the labelled nodes; by default the paper's 500 and 1,000, at most a sixth and a third.
    """
    wanted = _per_class_counts(graph, per_class, fraction, floor)
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.flatnonzero(graph.labels >= 0))
    ranks = _rank_within_class(graph.labels[order], graph.num_classes)
    pseudo = ranks < wanted[graph.labels[order]]
    train, rest = order[pseudo], order[~pseudo]
    n_val, n_test = _size("val", val, order.size, 500, 6), _size("test", test, order.size, 1000, 3)
    if n_val + n_test > rest.size:
        raise SplitError(
            f"{n_val} validation and {n_test} test nodes were asked for, but {rest.size} labelled nodes are left "
            f"after {train.size} training nodes"
        )
    amount = f"{per_class}-per-class" if per_class is not None else f"{fraction:g}"
    return _checked(graph, train, rest[:n_val], rest[n_val : n_val + n_test], pool, f"random-{amount}-seed-{seed}")


def from_masks(
    graph: Graph, train: Any, val: Any, test: Any, pool: Pool = "unlabelled", name: str = "masks"
) -> tuple[Split, ...]:
    """One split for each column of boolean masks of shape (N,) or (N, S), as PyG holds them."""
    masks = [_mask(part, m, graph.num_nodes) for part, m in (("train", train), ("val", val), ("test", test))]
    widths = {m.shape[1] for m in masks} - {1}
    if len(widths) > 1:
        raise SplitError(f"the masks have different numbers of columns: {', '.join(str(m.shape[1]) for m in masks)}")
    count = widths.pop() if widths else 1
    columns = [np.broadcast_to(m, (graph.num_nodes, count)) for m in masks]
    splits = []
    for s in range(count):
        v_l, v_val, v_test = (np.flatnonzero(m[:, s]) for m in columns)
        splits.append(_checked(graph, v_l, v_val, v_test, pool, name if count == 1 else f"{name}-{s}"))
    return tuple(splits)


public_split = public  # the names under which drgst itself shows them
per_class_split = per_class


def _checked(
    graph: Graph, train: np.ndarray, val: np.ndarray, test: np.ndarray, pool: Pool, name: str = "split"
) -> Split:
    split = Split.of(train, val, test, graph.num_nodes, pool, name)
    split.check(graph)
    return split


def _is_k_per_class(counts: np.ndarray, k: int) -> bool:
    """Whether a split is meant as k per class: k on average and in most classes (CoraFull has a 15 and a 25)."""
    return bool(counts.sum() == k * counts.size and (counts == k).mean() > 0.5)


def _per_class_counts(graph: Graph, per_class: int | None, fraction: float | None, floor: int) -> np.ndarray:
    """How many training nodes each class gives, (C,)."""
    if (per_class is None) == (fraction is None):
        raise SplitError("give either per_class or fraction")
    if floor < 1:
        raise SplitError(f"floor is {floor}, but every class needs at least 1 training label")
    labels = graph.labels[graph.labels >= 0]
    available = np.bincount(labels, minlength=graph.num_classes)
    short = np.flatnonzero(available < floor)
    if short.size:
        c = short[0]
        raise SplitError(f"class {graph.class_names[c]!r} has {available[c]} labelled nodes; the floor is {floor}")
    if per_class is not None:
        if per_class < floor:
            raise SplitError(f"per_class is {per_class}, below the floor of {floor}")
        return np.minimum(available, per_class)
    assert fraction is not None  # the first check
    if not 0 < fraction < 1:
        raise SplitError(f"fraction is {fraction}, but must lie between 0 and 1")
    return np.maximum(np.rint(available * fraction).astype(np.int64), floor)


def _rank_within_class(labels: np.ndarray, classes: int) -> np.ndarray:
    """For each position, how many before it have the same label."""
    ranks = np.empty(labels.size, dtype=np.int64)
    for c in range(classes):
        where = np.flatnonzero(labels == c)
        ranks[where] = np.arange(where.size)
    return ranks


def _size(part: str, value: int | float | None, labelled: int, usual: int, share: int) -> int:
    if value is None:
        return min(usual, labelled // share)
    if isinstance(value, float) and 0 <= value < 1:
        return round(value * labelled)
    if not (value >= 0 and float(value).is_integer()):
        raise SplitError(f"{part} is {value}, but must be a number of nodes or a fraction below 1")
    return int(value)


def _mask(part: str, mask: Any, nodes: int) -> np.ndarray:
    array = np.asarray(mask)
    if array.dtype != bool or array.ndim not in (1, 2) or array.shape[0] != nodes:
        raise SplitError(f"the {part} mask must be boolean with {nodes} rows, not {array.dtype} of shape {array.shape}")
    return array.reshape(nodes, -1)
