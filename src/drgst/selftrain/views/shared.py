"""What the views of one graph share: its feature table and normalised edges, and everything that views have fitted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features, Graph
from drgst.nn.records import under
from drgst.shards import ALONE, Shards
from drgst.transforms.features import FEW_ROUNDS, FeatureMap, krylov_vectors, row_l2, svd
from drgst.transforms.knn import EXACT_NODES
from drgst.transforms.products import MANY_ROWS, multiply_sparse, row_blocks, where_many
from drgst.transforms.propagate import Normalised, sym_norm, sym_norm_without_loops
from drgst.transforms.rank_normalise import informative

MAX_COLUMNS, MIN_COLUMNS = 256, 32  # of a representation
EDGE_COLUMNS = 64  # of the view structure; at most half of the nodes, experiment 061
WIDE_NODES = MANY_ROWS  # up to which representations are stored in 32 bits and propagated by all steps
MAPPED_NODES = 4_000_000  # above which representations are memory-mapped files
ID_BLOCK = MANY_ROWS  # ids that are read at a time
SAME_ROWS = 0.9  # of the fitted nodes that must have their features in a graph that contains them

Arrays = dict[str, np.ndarray]


def columns_kept(nodes: int) -> int:
    """min(256, max(32, 256 √(30,000 / N))): 99 for 200,000 nodes, 44 for 1 million."""
    return min(MAX_COLUMNS, max(MIN_COLUMNS, int(MAX_COLUMNS * math.sqrt(EXACT_NODES / max(nodes, 1)))))


@dataclass(eq=False)
class ViewMaps:
    """Everything that views have fitted: feature maps, means, singular vectors, ridge maps.

    ``arrays`` are empty for the graph that is fitted; each is computed when it is first needed. Those of a saved model
    are applied to every other graph.
    """

    arrays: Arrays = field(default_factory=dict)

    def learn(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """The array of that name, made where it is not there yet."""
        if name not in self.arrays:
            self.arrays[name] = np.asarray(make())
        return self.arrays[name]

    def under(self, prefix: str) -> Arrays:
        """The arrays whose names begin with ``prefix``, without it."""
        return under(prefix, self.arrays)

    def fitted_nodes(self, graph: Graph, shards: Shards = ALONE) -> int:
        """The number of nodes of the fitted graph, which is ``graph`` where nothing is fitted yet."""
        self.learn("nodes.ids", lambda: checksum_of_ids(graph, graph.num_nodes))
        return int(self.learn("nodes.rows", lambda: row_sums(graph, graph.num_nodes, shards)).size)

    def are_of_the_first_nodes(self, graph: Graph) -> bool:
        """Whether ``graph`` begins with the fitted nodes: by their ids, and by the features of nine in ten."""
        old = self.arrays["nodes.rows"]
        if graph.num_nodes < old.size or checksum_of_ids(graph, old.size) != self.arrays["nodes.ids"]:
            return False
        return bool(np.isclose(row_sums(graph, old.size, ALONE), old).mean() >= SAME_ROWS)


class Shared:
    """The tables and matrices of one graph that several views read, each made once. None depends on a label.

    With several ``shards``, each process has its own rows of all of them.
    """

    def __init__(self, graph: Graph, maps: ViewMaps | None = None, shards: Shards = ALONE) -> None:
        self.graph, self.maps, self.shards = graph, maps or ViewMaps(), shards
        self.large = graph.num_nodes > WIDE_NODES
        self.fitted_nodes = self.maps.fitted_nodes(graph, shards)
        self._values: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._values:
            self._values[name] = make()
        return self._values[name]

    @property
    def columns(self) -> int:
        return columns_kept(self.fitted_nodes)

    @property
    def dtype(self) -> str:
        """Of an entry of a representation; float16 halves the size, and its precision of 2^-11 suits unit rows."""
        return "float16" if self.large else "float32"

    def empty(self, shape: tuple[int, ...], name: str) -> np.ndarray:
        """An array for a representation; with very many nodes, a memory-mapped file."""
        if self.graph.num_nodes <= MAPPED_NODES:
            return np.empty(shape, dtype=self.dtype)
        folder = self.once("folder", lambda: TemporaryDirectory(prefix="drgst-views-", ignore_cleanup_errors=True))
        path = Path(folder.name) / f"{name}.npy"  # deleted with this object
        return np.lib.format.open_memmap(path, mode="w+", dtype=self.dtype, shape=shape)

    @cached_property
    def feature_map(self) -> FeatureMap:
        """The map of the fitted graph's features."""
        known = self.maps.under("features.")
        if known:
            return FeatureMap.of(known)
        made = FeatureMap.fit(self.features, self.columns, self.graph.prepared, self.shards)
        self.maps.arrays |= {f"features.{name}": array for name, array in made.arrays().items()}
        return made

    @property
    def own(self) -> slice:
        """The rows of this process."""
        return self.shards.rows(self.graph.num_nodes)

    @cached_property
    def features(self) -> Features:
        """The features, (N, F)."""
        return self.graph.features if self.shards.size == 1 else self.graph.features[self.own]

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """The adjacency, (N, N); with several shards, the rows of this process, (n, N)."""
        return self.graph.adjacency if self.shards.size == 1 else self.graph.adjacency[self.own]

    @cached_property
    def has_features(self) -> bool:
        """Whether features tell some nodes apart; decided on the fitted graph."""
        return bool(self.maps.under("features.")) or informative(self.features, self.shards)

    @cached_property
    def table(self) -> np.ndarray:
        """The feature table X, (N, D)."""
        return self.feature_map(self.features)

    @cached_property
    def edges(self) -> Normalised:
        return sym_norm(self.adjacency, self.shards)

    @property
    def forgets_nodes(self) -> bool:
        """Whether what is fitted with a row per node is too large to be part of a model."""
        return self.graph.num_nodes > MAPPED_NODES or (self.large and self.shards.size > 1)

    def of_nodes(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """This process's rows of the fitted array ``name``, which has a row per node and is saved with the model."""
        if self.shards.size == 1:
            return self.maps.learn(name, make)
        own = make()
        self.maps.arrays[name] = own if self.forgets_nodes else self.shards.all_rows(own, self.graph.num_nodes)
        return own

    def edge_vectors(self) -> np.ndarray:
        """V, (N, 64) or fewer columns, of S ≈ U Σ Vᵀ, S = D^-½ A D^-½; of a large graph for two views, in turn."""
        known = self._values.pop("edge vectors", None)
        if known is None:
            s = sym_norm_without_loops(self.adjacency, self.shards)
            known = singular_vectors(s, min(EDGE_COLUMNS, self.columns, s.shape[0] // 2), self.shards)
            if self.large:
                self._values["edge vectors"] = known
        return np.asarray(known)

    def centred(self, name: str, x: np.ndarray, out: np.ndarray | None = None, scale: float = 1.0) -> np.ndarray:
        """(x_i - x̄) / ‖x_i - x̄‖₂ · ``scale``, x̄ fitted as ``name``.mean, in ``out`` where it is given."""
        mean = self.maps.learn(f"{name}.mean", lambda: self.shards.mean(x).astype(np.float32))
        out = self.empty(x.shape, name) if out is None else out
        made = out

        def centre(part: slice) -> None:
            for rows in row_blocks(part, x.shape[1]):
                made[rows] = row_l2(x[rows] - mean) * np.float32(scale)

        where_many(centre, x.shape[0])
        return made


def singular_vectors(s: Normalised, width: int, shards: Shards) -> np.ndarray:
    """V = S U Σ / Σ², (N, ``width``) or fewer columns, of a symmetric S ≈ U Σ Vᵀ, (N, N)."""
    if s.shape[0] > MANY_ROWS:
        return krylov_vectors(s, width, symmetric=True, shards=shards)
    leading = svd(s, min(width, s.shape[0] - 1), seed=0, rounds=FEW_ROUNDS, symmetric=True, shards=shards)
    squares = np.maximum(shards.sum(np.einsum("ij,ij->j", leading, leading)), np.finfo(np.float32).tiny)
    found = multiply_sparse(s, leading)
    return np.divide(found, squares, out=found)


def checksum_of_ids(graph: Graph, nodes: int) -> np.ndarray:
    """A checksum of the ids of the first nodes, one per line."""
    checksum = 0
    for start in range(0, nodes, ID_BLOCK):
        text = "\n".join(map(str, graph.node_ids[start : min(start + ID_BLOCK, nodes)].tolist()))
        checksum = crc32((f"\n{text}" if start else text).encode(), checksum)
    return np.array(checksum, dtype=np.int64)


def row_sums(graph: Graph, nodes: int, shards: Shards) -> np.ndarray:
    """Σ_j x_uj of the first nodes, (nodes,) float32; each of several ``shards`` reads its own rows."""
    own = shards.rows(nodes)
    rows = graph.features if own.stop - own.start == graph.num_nodes else graph.features[own]
    return shards.all_rows(np.asarray(rows.sum(axis=1), dtype=np.float32).reshape(-1), nodes)
