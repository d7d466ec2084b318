"""The graph data structure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError, NoLabels
from drgst.graph.html import html_table
from drgst.graph.invariants import check, stored_values
from drgst.graph.relation import Relation

if TYPE_CHECKING:
    from drgst.graph.split import Split

UNLABELLED = -1
BYTES_PER_CLASS = 100  # of a name and its place in a tuple, at least
MOST_EMPTY = 1 << 16  # classes that a graph of fewer nodes may have
Features: TypeAlias = Any  # sp.csr_array | np.ndarray; SciPy has no type annotations


@dataclass(frozen=True, eq=False)
class Graph:
    r"""G = (V, E, X) with partly known labels Y: an undirected graph of N nodes without self-loops.

    Use :func:`make_graph` or one of the readers in :mod:`drgst.graph` to create one. The constructor checks all
    invariants; other modules rely on them.
    """

    features: Features  # X, (N, F) float32, CSR or dense, finite
    adjacency: sp.csr_array  # A, (N, N) float32, symmetric, zero diagonal, weights above 0, sorted indices
    labels: np.ndarray  # Y, (N,) int64, -1 where unknown
    class_names: tuple[str, ...]  # C names; label k is class_names[k]
    node_ids: np.ndarray  # (N,) int64 or str, unique
    name: str = "graph"
    splits: tuple[Split, ...] = ()  # the splits of the data set; the public one is the first
    notes: tuple[str, ...] = ()  # what was changed when the graph was made, one sentence each
    prepared: bool = False  # whether the columns of X have one scale, as those made of tables: models do not rank them
    relations: tuple[Relation, ...] = ()  # further relations of nodes: entities that they share

    def __post_init__(self) -> None:
        check(self)
        self._freeze()

    def _freeze(self) -> None:
        for array in (self.labels, self.node_ids, self.adjacency.data, stored_values(self.features)):
            array.flags.writeable = False

    @classmethod
    def unchecked(cls, **values: Any) -> Graph:
        """A graph whose invariants the caller guarantees, such as one that was checked before it was written."""
        made = cls._assembled(values)
        made._freeze()
        return made

    @classmethod
    def _assembled(cls, values: dict[str, Any]) -> Graph:
        made = object.__new__(cls)
        for field in fields(cls):
            object.__setattr__(made, field.name, values.pop(field.name, field.default))
        if values:
            raise TypeError(f"a graph has no field {next(iter(values))!r}")
        return made

    @property
    def num_nodes(self) -> int:
        """N."""
        return self.adjacency.shape[0]

    @property
    def num_edges(self) -> int:
        """|E|, each undirected edge counted once."""
        return self.adjacency.nnz // 2

    @property
    def num_entries(self) -> int:
        """Stored entries of A and X: the cost of an epoch grows with them."""
        return int(self.adjacency.nnz + (self.features.nnz if sp.issparse(self.features) else self.features.size))

    @property
    def num_features(self) -> int:
        """F."""
        return self.features.shape[1]

    @property
    def num_classes(self) -> int:
        """C."""
        return len(self.class_names)

    @cached_property
    def degrees(self) -> np.ndarray:
        """Number of neighbours of each node, (N,) int64."""
        return np.diff(self.adjacency.indptr).astype(np.int64)

    @cached_property
    def weighted(self) -> bool:
        """Whether any edge weight differs from 1."""
        return bool((self.adjacency.data != 1).any())

    @property
    def split(self) -> Split | None:
        """The first split of the data set, or None."""
        return self.splits[0] if self.splits else None

    def with_(self, **changes: Any) -> Graph:
        """A copy with some fields replaced; the invariants that they concern are checked again."""
        made = self._assembled({field.name: getattr(self, field.name) for field in fields(self)} | changes)
        check(made, changes.keys())
        made._freeze()
        return made

    def __repr__(self) -> str:
        known = int((self.labels >= 0).sum())
        return (
            f"Graph({self.name!r}: {self.num_nodes:,} nodes, {self.num_edges:,} edges, "
            f"{self.num_features:,} features, {self.num_classes} classes, {known:,} labelled)"
        )

    def _repr_html_(self) -> str:
        """Sizes, labelled nodes per class, splits and notes."""
        known = self.labels[self.labels >= 0]
        counts = zip(self.class_names, np.bincount(known, minlength=self.num_classes).tolist(), strict=True)
        rows = [
            ("nodes", f"{self.num_nodes:,}"),
            ("edges", f"{self.num_edges:,}{', weighted' if self.weighted else ''}"),
            ("features", f"{self.num_features:,}"),
            ("labelled", f"{known.size:,}"),
            ("classes", ", ".join(f"{name} ({count:,})" for name, count in counts)),
            *(("split", repr(split)) for split in self.splits[:3]),
        ]
        return html_table(self.name, (), rows, self.notes)


def make_graph(
    features: Any,
    adjacency: Any,
    labels: Any,
    *,
    class_names: Sequence[str] | None = None,
    node_ids: Any = None,
    name: str = "graph",
    splits: Sequence[Split] = (),
    notes: Sequence[str] = (),
    unlabelled: bool = False,
) -> Graph:
    """Create a :class:`Graph` from raw arrays. All readers call this function.

    ``adjacency`` may be directed and may have self-loops or duplicate entries: it is made undirected and loop-free, and
    ``notes`` says what was changed. ``labels`` are class indices with -1 for unknown; ``class_names`` defaults to the
    indices as text. ``features`` is dense or sparse; ``None`` gives an (N, 0) matrix. At least one label is required
    unless ``unlabelled`` is true, for a graph that is only predicted (``class_names`` is then required).
    """
    cleaned, changed = clean_adjacency(adjacency)
    count = cleaned.shape[0]
    try:
        given = np.asarray(labels).reshape(-1)
        if given.dtype.kind in "SUVcmM":
            raise ValueError(f"they are of type {given.dtype}")
        y = given.astype(np.int64)
        if given.dtype.kind == "f" and not np.array_equal(y, given):
            raise ValueError(f"{given[y != given][0]} is not whole")
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"labels must be whole numbers with -1 for unknown: {error}") from error
    if not (y >= 0).any() and not unlabelled:
        raise NoLabels("all labels are missing: at least two classes need a label")
    if class_names is None:
        classes = int(y.max(initial=-1)) + 1
        if classes > max(count, MOST_EMPTY):
            size = f"{BYTES_PER_CLASS * classes / 1e9:,.1f} GB"
            raise GraphError(f"label {classes - 1} means {classes:,} classes for {count:,} nodes ({size} of names)")
        class_names = [str(k) for k in range(classes)]
    if isinstance(class_names, str) or not isinstance(class_names, Iterable):
        raise GraphError(f"class_names must be a list of names, not {class_names!r}")
    ids = np.arange(count) if node_ids is None else _clean_ids(node_ids)
    return Graph(
        features=_clean_features(features, count),
        adjacency=cleaned,
        labels=y,
        class_names=tuple(str(c) for c in class_names),
        node_ids=ids,
        name=name,
        splits=tuple(splits),
        notes=(*notes, *changed),
    )


def _clean_ids(given: Any) -> np.ndarray:
    """A copy of the ids: texts, or int64 where they are whole numbers."""
    ids = np.asarray(given)
    if ids.dtype.kind == "f" and np.array_equal(ids, np.floor(ids)) and np.isfinite(ids).all():
        return ids.astype(np.int64)
    return ids.astype(str) if ids.dtype.kind == "O" else ids.copy()


def edge_matrix(source: np.ndarray, target: np.ndarray, nodes: int, weights: Any = None) -> sp.coo_array:
    """A_uv = w_uv for the edges (u, v) = (source_e, target_e), (N, N); w = 1 without ``weights``."""
    values = np.ones(len(source), dtype=np.float32) if weights is None else weights
    return sp.coo_array((values, (source, target)), shape=(nodes, nodes))


def clean_adjacency(adjacency: Any) -> tuple[sp.csr_array, list[str]]:
    """max(A, Aᵀ) without its diagonal, (N, N) float32 CSR with sorted indices, and one sentence for each change.

    Of duplicate entries the largest weight is kept.
    """
    raw = sp.coo_array(adjacency)
    if raw.ndim != 2 or raw.shape[0] != raw.shape[1]:
        raise GraphError(f"the adjacency must be square, not of shape {raw.shape}")
    if raw.shape[0] == 0:
        raise GraphError("the graph is empty: it has no nodes")
    weights = np.asarray(raw.data, dtype=np.float32)
    check_weights(weights)
    row, col = raw.coords
    keep = row != col
    one_way = _largest(row[keep], col[keep], weights[keep], raw.shape[0])
    both = one_way.maximum(one_way.T.tocsr())
    both.sort_indices()
    notes = []
    if not keep.all():
        notes.append(f"{int((~keep).sum())} self-loops were removed")
    duplicates = int(keep.sum()) - one_way.nnz
    if duplicates:
        notes.append(f"{duplicates} duplicate edges were merged")
    if both.nnz != one_way.nnz or (both != one_way).nnz:
        notes.append("directed edges were made undirected")
    return _narrow(both), notes


def check_weights(weights: np.ndarray) -> None:
    """Refuse edge weights that are not finite and above 0."""
    bad = weights[~(np.isfinite(weights) & (weights > 0))]
    if bad.size:
        raise GraphError(f"an edge has weight {bad[0]}: weights must be finite and above 0")


def _clean_features(features: Any, count: int) -> Features:
    """X as float32: CSR with sorted indices if it was sparse, else dense."""
    if features is None:
        return sp.csr_array((count, 0), dtype=np.float32)
    try:
        if np.asarray(features.data if sp.issparse(features) else features).dtype.kind in "cmMV":
            raise ValueError("they are complex numbers, times or records")
        if sp.issparse(features):
            x = sp.csr_array(features, dtype=np.float32, copy=True)
            x.sum_duplicates()
            x.eliminate_zeros()
            return _narrow(x)
        return np.array(features, dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        raise GraphError(f"features must be numbers: {error}") from error


def _largest(row: np.ndarray, col: np.ndarray, weights: np.ndarray, count: int) -> sp.csr_array:
    """CSR of (row, col, weight) with the largest weight of duplicate entries."""
    order = np.lexsort((weights, col, row))
    row, col, weights = row[order], col[order], weights[order]
    last = np.ones(row.size, dtype=bool)
    last[:-1] = (row[1:] != row[:-1]) | (col[1:] != col[:-1])
    return sp.csr_array((weights[last], (row[last], col[last])), shape=(count, count))


def _narrow(matrix: sp.csr_array) -> sp.csr_array:
    """The same matrix with 32-bit indices if they suffice: half the memory and faster products."""
    limit = np.iinfo(np.int32).max
    if matrix.nnz < limit and max(matrix.shape) < limit and matrix.indices.dtype != np.int32:
        matrix.indices = matrix.indices.astype(np.int32)
        matrix.indptr = matrix.indptr.astype(np.int32)
    return matrix
