"""Who teaches, who validates, who is tested, and who may be pseudo-labelled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from drgst.errors import SplitError

if TYPE_CHECKING:
    from drgst.graph.core import Graph

Pool = Literal["unlabelled", "all-but-validation"]
POOLS: tuple[Pool, ...] = ("unlabelled", "all-but-validation")


@dataclass(frozen=True, eq=False)
class Split:
    """V_L, validation, test and V_U as sorted node indices.

    ``train``, ``val`` and ``test`` are disjoint. ``pool`` is V_U, the nodes a method may pseudo-label: never a
    training or validation node; test nodes only in the pool ``"all-but-validation"`` (transductive: their
    features and edges are used, never their labels). The paper's pool is ``"unlabelled"``: all other nodes.
    """

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    pool: np.ndarray
    name: str = "split"

    def __post_init__(self) -> None:
        for part in ("train", "val", "test", "pool"):
            object.__setattr__(self, part, _indices(part, getattr(self, part)))
        for a, b in (
            ("train", "val"),
            ("train", "test"),
            ("val", "test"),
            ("train", "pool"),
            ("val", "pool"),
        ):
            both = np.intersect1d(getattr(self, a), getattr(self, b))
            if both.size:
                raise SplitError(f"{a} and {b} overlap: node {both[0]} is in both ({both.size} in all)")

    @classmethod
    def of(cls, train: Any, val: Any, test: Any, nodes: int, pool: Pool = "unlabelled", name: str = "split") -> Split:
        """A split of a graph with ``nodes`` nodes whose pool follows from the rule ``pool``."""
        if pool not in POOLS:
            raise SplitError(f"unknown pool {pool!r} (allowed: {', '.join(POOLS)})")
        bare = cls(train, val, test, np.empty(0, dtype=np.int64), name)
        bare.check_range(nodes)
        free = np.ones(nodes, dtype=bool)
        free[bare.train] = free[bare.val] = False
        if pool == "unlabelled":
            free[bare.test] = False
        return replace(bare, pool=np.flatnonzero(free))

    def check_range(self, nodes: int) -> None:
        """Refuse an index outside 0 … nodes - 1."""
        for part in ("train", "val", "test", "pool"):
            indices = getattr(self, part)
            if indices.size and (indices[0] < 0 or indices[-1] >= nodes):
                bad = indices[0] if indices[0] < 0 else indices[-1]
                raise SplitError(f"{part} holds node {bad}, but the graph has nodes 0 to {nodes - 1}")

    def check(self, graph: Graph) -> None:
        """Refuse a split that does not fit ``graph``: range, labels of train and val, a label for every class."""
        self.check_range(graph.num_nodes)
        for part in ("train", "val"):
            indices = getattr(self, part)
            missing = indices[graph.labels[indices] < 0]
            if missing.size:
                raise SplitError(f"{part} node {graph.node_ids[missing[0]]!s} has no label")
        present = np.unique(graph.labels[self.train])
        absent = np.setdiff1d(np.arange(graph.num_classes), present)
        if absent.size:
            raise SplitError(f"class {graph.class_names[absent[0]]!r} has no training label")

    def with_pool(self, pool: Pool, nodes: int) -> Split:
        """The same split with another pool rule."""
        return Split.of(self.train, self.val, self.test, nodes, pool, self.name)

    def without_validation(self) -> Split:
        """The same split with the validation nodes given back to the pool, their labels unseen."""
        return replace(self, val=np.empty(0, dtype=np.int64), pool=np.union1d(self.pool, self.val))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{part} {getattr(self, part).size:,}" for part in ("train", "val", "test", "pool"))
        return f"Split({self.name!r}: {sizes})"


def _indices(part: str, values: Any) -> np.ndarray:
    raw = np.asarray(values)
    if raw.size == 0:
        raw = np.empty(0, dtype=np.int64)
    if raw.ndim != 1 or raw.dtype.kind not in "iu":
        raise SplitError(f"{part} must be a list of node indices, not {raw.dtype} of shape {raw.shape}")
    unique = np.unique(raw.astype(np.int64))
    if unique.size != raw.size:
        raise SplitError(f"{part} names a node more than once")
    unique.flags.writeable = False
    return unique
