"""Splits of a graph into training, validation, test and pool nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from drgst.errors import SplitError

if TYPE_CHECKING:
    from drgst.graph.core import Graph

Pool = Literal["unlabelled", "all-but-validation"]
POOLS: tuple[Pool, ...] = ("unlabelled", "all-but-validation")
PARTS = ("train", "val", "test", "pool")
_DISJOINT = (("train", "val"), ("train", "test"), ("val", "test"), ("train", "pool"), ("val", "pool"))
_NO_NODES = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Split:
    """V_L, validation, test and V_U as sorted node indices.

    ``train``, ``val`` and ``test`` are disjoint. ``pool`` is V_U, the nodes that may be pseudo-labelled: never a
    training or validation node, and test nodes only with the pool rule ``"all-but-validation"`` (transductive: their
    features and edges are used, their labels are not). The paper's rule is ``"unlabelled"``: all other nodes.
    """

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    pool: np.ndarray
    name: str = "split"

    def __post_init__(self) -> None:
        for part in PARTS:
            object.__setattr__(self, part, _indices(part, getattr(self, part)))
        for a, b in _DISJOINT:
            both = np.intersect1d(getattr(self, a), getattr(self, b), assume_unique=True)
            if both.size:
                raise SplitError(f"{a} and {b} overlap: node {both[0]} is in both ({both.size} in all)")

    @classmethod
    def of(cls, train: Any, val: Any, test: Any, nodes: int, pool: Pool = "unlabelled", name: str = "split") -> Split:
        """The split of a graph with ``nodes`` nodes whose pool is given by the rule ``pool``."""
        return cls(train, val, test, _NO_NODES, name).with_pool(pool, nodes)

    def check_range(self, nodes: int) -> None:
        """Raise :class:`SplitError` if an index is outside 0 … nodes - 1."""
        for part in PARTS:
            indices = getattr(self, part)
            if indices.size and (indices[0] < 0 or indices[-1] >= nodes):
                bad = indices[0] if indices[0] < 0 else indices[-1]
                raise SplitError(f"{part} holds node {bad}, but the graph has nodes 0 to {nodes - 1}")

    def check(self, graph: Graph) -> None:
        """Raise :class:`SplitError` if the split does not fit ``graph``.

        All indices must be nodes, training and validation nodes need a label, and every class needs a training label.
        """
        self.check_range(graph.num_nodes)
        for part in ("train", "val"):
            indices = getattr(self, part)
            missing = indices[graph.labels[indices] < 0]
            if missing.size:
                raise SplitError(f"{part} node {graph.node_ids[missing[0]]!s} has no label")
        absent = np.setdiff1d(np.arange(graph.num_classes), graph.labels[self.train])
        if absent.size:
            raise SplitError(f"class {graph.class_names[absent[0]]!r} has no training label")

    def with_pool(self, pool: Pool, nodes: int) -> Split:
        """The same split with the pool rule ``pool``, for a graph with ``nodes`` nodes."""
        if pool not in POOLS:
            raise SplitError(f"unknown pool {pool!r} (allowed: {', '.join(POOLS)})")
        self.check_range(nodes)
        free = np.ones(nodes, dtype=bool)
        free[self.train] = free[self.val] = False
        if pool == "unlabelled":
            free[self.test] = False
        return replace(self, pool=np.flatnonzero(free))

    def with_validation_as_training(self) -> Split:
        """The same split with the validation nodes moved to the training nodes."""
        return replace(self, train=np.union1d(self.train, self.val), val=_NO_NODES)

    def without_validation(self) -> Split:
        """The same split with the validation nodes moved to the pool; their labels are not used."""
        return replace(self, val=_NO_NODES, pool=np.union1d(self.pool, self.val))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{part} {getattr(self, part).size:,}" for part in PARTS)
        return f"Split({self.name!r}: {sizes})"


def default_split(graph: Graph) -> Split:
    """The split of the data set; without one, all labelled nodes are training nodes and the others are the pool."""
    if graph.split is not None:
        return graph.split
    if (graph.labels >= 0).all():
        raise SplitError(
            f"every node of {graph.name!r} is labelled and no split is given: pass one, or draw one "
            "(--per-class 3 on the command line, drgst.random_split(graph, per_class=3, seed=0) in Python)"
        )
    return labelled_split(graph)


def labelled_split(graph: Graph) -> Split:
    """Every labelled node trains; the others are the pool, which may be empty."""
    known = np.flatnonzero(graph.labels >= 0)
    return Split.of(known, _NO_NODES, _NO_NODES, graph.num_nodes, name="labelled nodes train")


def draw_split(graph: Graph, k: int, seed: int, pool: Pool = "unlabelled") -> Split:
    """k training nodes per class: from the training nodes of the data set's split, or from all labelled nodes."""
    if graph.split is not None:
        return per_class_split(graph, k, seed, pool)
    return random_split(graph, per_class=k, seed=seed, pool=pool)


def public_split(graph: Graph, pool: Pool = "unlabelled") -> Split:
    """The split of the data set with the pool rule ``pool``."""
    if graph.split is None:
        raise SplitError(f"{graph.name!r} came without a split: random_split(graph, per_class=3, seed=0) draws one")
    graph.split.check(graph)
    return graph.split.with_pool(pool, graph.num_nodes)


def per_class_split(graph: Graph, k: int, seed: int, pool: Pool = "unlabelled") -> Split:
    """k training nodes per class, drawn from the public training nodes; the others join the pool.

    This is the paper's protocol: validation and test nodes are those of the public split. The draws of one seed are
    nested (those for k = 3 are among those for k = 5). A class with fewer than k public training nodes gives all of
    them (class 68 of CoraFull). If the public split has k nodes per class, it is returned.
    """
    whole = public_split(graph, pool)
    y = graph.labels[whole.train]
    counts = np.bincount(y, minlength=graph.num_classes)
    if not 1 <= k <= counts.max():
        raise SplitError(f"per_class is {k}, but the public split allows 1 to {counts.max()} labels per class")
    # k per class on average and in most classes: CoraFull has 20 per class but for one class of 15 and one of 25
    if counts.sum() == k * counts.size and (counts == k).mean() > 0.5:
        return whole
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([rng.permutation(whole.train[y == c])[:k] for c in range(graph.num_classes)])
    split = Split.of(drawn, whole.val, whole.test, graph.num_nodes, pool, f"per-class-{k}-seed-{seed}")
    split.check(graph)
    return split


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
    """Draw a split from the labelled nodes.

    Training nodes per class: ``per_class``, or the share ``fraction`` of its labelled nodes but at least ``floor``. A
    smaller class gives all its labelled nodes; one with fewer than ``floor`` is an error. ``val`` and ``test`` are
    numbers of nodes or fractions of the labelled nodes; by default 500 and 1,000 as in the paper, but at most a sixth
    and a third of the labelled nodes.
    """
    sizes = _training_sizes(graph, per_class, fraction, floor)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(graph.labels >= 0))
    ranks = rank_within_class(graph.labels[order])
    in_train = ranks < sizes[graph.labels[order]]
    train, rest = order[in_train], order[~in_train]
    n_val = min(500, order.size // 6) if val is None else _size("val", val, order.size)
    n_test = min(1000, order.size // 3) if test is None else _size("test", test, order.size)
    if n_val + n_test > rest.size:
        raise SplitError(
            f"{n_val} validation and {n_test} test nodes were asked for, but {rest.size} labelled nodes are left "
            f"after {train.size} training nodes"
        )
    amount = f"{per_class}-per-class" if per_class is not None else f"{fraction:g}"
    chosen_val, chosen_test = rest[:n_val], rest[n_val : n_val + n_test]
    split = Split.of(train, chosen_val, chosen_test, graph.num_nodes, pool, f"random-{amount}-seed-{seed}")
    split.check(graph)
    return split


def validated_split(graph: Graph, k: int, val: int, seed: int, pool: Pool = "unlabelled") -> Split:
    """k training and ``val`` validation nodes per class, drawn from all labelled nodes; all others are test nodes."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(graph.labels >= 0))
    ranks = rank_within_class(graph.labels[order])
    train, chosen_val, test = order[ranks < k], order[(ranks >= k) & (ranks < k + val)], order[ranks >= k + val]
    if not test.size:
        raise SplitError(f"no test node is left after {k} training and {val} validation labels per class")
    name = f"per-class-{k}-validation-{val}-seed-{seed}"
    split = Split.of(train, chosen_val, test, graph.num_nodes, pool, name)
    split.check(graph)
    return split


def fold_splits(graph: Graph, folds: int = 5, seed: int = 0, split: Split | None = None) -> list[Split]:
    """K splits for cross-validation on one graph: each takes one part of the training nodes as test nodes.

    The parts have equal shares of each class, up to one node. Validation nodes stay; the nodes of the part, the test
    nodes of ``split`` (default: the split of the graph) and all others are as in the pool rule ``"unlabelled"``: the
    part is not in the pool, and the old test nodes are. Every class needs at least two training nodes.
    """
    base = default_split(graph) if split is None else split
    base.check(graph)
    labels = graph.labels[base.train]
    counts = np.bincount(labels, minlength=graph.num_classes)
    fewest = int(counts.min())
    if folds < 2 or fewest < 2:
        raise SplitError(f"folds is {folds} and a class has {fewest} training nodes (allowed: 2 or more of both)")
    order = np.random.default_rng(seed).permutation(base.train.size)
    ranks = np.empty(order.size, dtype=np.int64)
    ranks[order] = rank_within_class(labels[order])
    # the first node of the next class goes where the last class ended, so that small classes do not fill the first part
    starts = np.cumsum(counts) - counts
    part = (ranks + starts[labels]) % folds
    made = []
    for k in np.unique(part):
        test, train = base.train[part == k], base.train[part != k]
        made.append(Split.of(train, base.val, test, graph.num_nodes, "unlabelled", f"fold {k + 1} of {folds}"))
    return made


def splits_from_masks(masks: Mapping[str, Any], nodes: int, name: str = "mask") -> list[Split]:
    """One split per column of the boolean masks ``train``, ``val``, ``test`` and ``pool``, each (N,) or (N, S).

    A missing part is empty; without a ``pool`` mask the pool is all nodes outside the other three. A mask with one
    column belongs to every split. Without any mask but ``pool`` there is no split.
    """
    found = {part: _mask(part, masks[part], nodes) for part in PARTS if masks.get(part) is not None}
    if not found.keys() & set(PARTS[:3]):
        return []
    width = max(mask.shape[1] for mask in found.values())
    for part, mask in found.items():
        if mask.shape[1] not in (1, width):
            raise SplitError(f"the {part} mask has {mask.shape[1]} columns, but another mask has {width}")
    splits = []
    for k in range(width):
        parts = {part: np.flatnonzero(mask[:, min(k, mask.shape[1] - 1)]) for part, mask in found.items()}
        split = Split(**{**dict.fromkeys(PARTS, _NO_NODES), **parts}, name=name if width == 1 else f"{name} {k}")
        splits.append(split if "pool" in found else split.with_pool("unlabelled", nodes))
    return splits


def _indices(part: str, values: Any) -> np.ndarray:
    raw = np.asarray(values)
    if raw.size == 0:
        raw = _NO_NODES
    if raw.ndim != 1 or raw.dtype.kind not in "iu":
        raise SplitError(f"{part} must be a list of node indices, not {raw.dtype} of shape {raw.shape}")
    unique = raw.astype(np.int64)
    if not (unique[1:] > unique[:-1]).all():
        unique = np.unique(unique)
    if unique.size != raw.size:
        raise SplitError(f"{part} names a node more than once")
    unique.flags.writeable = False
    return unique


def _training_sizes(graph: Graph, per_class: int | None, fraction: float | None, floor: int) -> np.ndarray:
    """The number of training nodes of each class, (C,)."""
    if floor < 1:
        raise SplitError(f"floor is {floor}, but every class needs at least 1 training label")
    available = np.bincount(graph.labels[graph.labels >= 0], minlength=graph.num_classes)
    short = np.flatnonzero(available < floor)
    if short.size:
        c = short[0]
        raise SplitError(f"class {graph.class_names[c]!r} has {available[c]} labelled nodes; the floor is {floor}")
    if per_class is not None and fraction is None:
        if per_class < floor:
            raise SplitError(f"per_class is {per_class}, below the floor of {floor}")
        return np.minimum(available, per_class)
    if per_class is not None or fraction is None:
        raise SplitError("give either per_class or fraction")
    if not 0 < fraction < 1:
        raise SplitError(f"fraction is {fraction}, but must lie between 0 and 1")
    return np.maximum(np.rint(available * fraction).astype(np.int64), floor)


def rank_within_class(labels: np.ndarray) -> np.ndarray:
    """For each position, the number of earlier positions with the same label."""
    order = np.argsort(labels, kind="stable")
    ranks = np.empty(labels.size, dtype=np.int64)
    ranks[order] = np.arange(labels.size) - np.searchsorted(labels[order], labels[order])
    return ranks


def _size(part: str, value: int | float, labelled: int) -> int:
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
