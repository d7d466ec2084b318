"""What a view is, and what views of propagated features have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drgst.graph.core import Graph
from drgst.selftrain.views.shared import Shared
from drgst.shards import ALONE, Shards
from drgst.transforms.features import row_l2
from drgst.transforms.products import NARROW_BYTES, as_float32, row_blocks, sample_of_rows, where_many
from drgst.transforms.propagate import Normalised, Polynomial, restart_coefficients, shortened

RESTART, STEPS = 0.15, 20  # restart probability α and steps of propagations: experiments 024 and 034
SHORT_DEGREE = 8  # of the polynomials of large graphs: they differ from those of 20 steps by at most 0.0047
PENALTY = 0.01  # ε, over the mean variance of a column; 0.001 to 0.1 differ by less than 0.1 points: experiment 034


@dataclass(frozen=True, eq=False)
class Term:
    """A summand (r - r̄) Y W, (E,), of the row of node u: the row y_j of node j counts r_j at u, r̄_j on average."""

    reach: np.ndarray  # r, (N,)
    usual: np.ndarray  # r̄, (N,)
    table: np.ndarray  # Y, (N, D): the feature table where the view needs features
    weight: np.ndarray  # W, (D, E), over the length of the row

    @property
    def row(self) -> np.ndarray:
        """(r - r̄) Y, (D,)."""
        return np.asarray((self.reach - self.usual) @ self.table)

    @classmethod
    def of_unit(cls, reach: np.ndarray, usual: np.ndarray, table: np.ndarray, weight: np.ndarray | None = None) -> Term:
        """With W over the length of the row: z = (r - r̄) Y W / ‖(r - r̄) Y W‖₂; W = I where it is None."""
        weight = np.eye(table.shape[1], dtype=np.float32) if weight is None else weight
        made = cls(reach, usual, table, weight)
        length = float(np.linalg.norm(made.row @ weight))
        return cls(reach, usual, table, weight / np.float32(length or 1))


def reach_of(node: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights of all nodes at ``node`` itself, and their mean over all nodes, (N,) float32 each."""
    reach = np.zeros(count, dtype=np.float32)
    reach[node] = 1
    return reach, np.full(count, 1 / count, dtype=np.float32)


class View(ABC):
    """A representation of the nodes of a graph: graph -> Z, (N, D), with rows of length 1 at most.

    Everything that a view fits goes to ``shared.maps`` under names that begin with the name of the view. It is saved
    with the model and read from there for other graphs. No view reads a label.
    """

    name: str
    needs_features: ClassVar[bool] = False
    needs_edges: ClassVar[bool] = False
    of_nodes: ClassVar[bool] = False  # whether the view knows the nodes of the fitted graph only, and nodes added to it
    saved: ClassVar[tuple[str, ...]] = ("mean",)  # what is fitted, without the name of the view
    homophily_by: ClassVar[str | None] = None  # the view by which the default weight measures how alike neighbours are

    @property
    def vectors(self) -> str:
        """The name of what a view ``of_nodes`` has fitted with a row per node."""
        return f"{self.name}.vectors"

    def applies(self, graph: Graph, features: bool) -> bool:
        """Whether the view can be made of ``graph``, whose features tell some nodes apart or not."""
        return (features or not self.needs_features) and (graph.num_edges > 0 or not self.needs_edges)

    @abstractmethod
    def make(self, shared: Shared) -> np.ndarray:
        """Z, (N, D); with several shards, the rows of this process."""

    @abstractmethod
    def terms(self, shared: Shared, node: int) -> list[Term]:
        """The row of ``node`` in the fitted graph as a sum over the rows of all nodes, for explanations."""

    def matrix(self, shared: Shared) -> Normalised | None:
        """The normalised adjacency S, (N, N), over which the view propagates; None where it does not."""
        del shared
        return None


class PropagatedView(View):
    """Z M / ‖·‖₂, Z = centred rows of Π X of unit length, Π = α Σ_k (1-α)^k S^k, M = :func:`ridge_map` of X and Z.

    Directions in which a node and its surroundings agree keep their length, noise gets shorter (experiment 034). Rows
    are not centred where ``centred`` is false.
    """

    saved = ("mean", "map")
    centred: ClassVar[bool] = True

    def matrix(self, shared: Shared) -> Normalised:
        """S, the same object for every call: Â of the graph, unless a view has other edges."""
        return shared.edges

    def table(self, shared: Shared) -> np.ndarray:
        """X, (N, D), the feature table, unless a view has another."""
        return shared.table

    def make(self, shared: Shared) -> np.ndarray:
        x, maps, shards = self.table(shared), shared.maps, shared.shards
        out = shared.empty(x.shape, self.name)
        known = maps.arrays.get(f"{self.name}.mean", None if self.centred else np.zeros(x.shape[1], np.float32))
        z, mean = self._propagation(shared).unit_rows(x, out, known, shards)
        maps.arrays[f"{self.name}.mean"] = mean
        weight = maps.learn(f"{self.name}.map", lambda: ridge_map(x, z, shards))

        def apply(part: slice) -> None:
            for rows in row_blocks(part, z.shape[1], NARROW_BYTES if shared.large else None):
                z[rows] = row_l2(as_float32(z[rows]) @ weight)

        where_many(apply, z.shape[0])
        return z

    def terms(self, shared: Shared, node: int) -> list[Term]:
        start = np.stack(reach_of(node, shared.graph.num_nodes), axis=1)
        ((_, reach),) = self._propagation(shared).blocks(start)  # Π is symmetric
        table = shared.once(f"table of {self.name}", lambda: self.table(shared))
        usual = reach[:, 1] if shared.maps.arrays[f"{self.name}.mean"].any() else np.zeros_like(reach[:, 1])
        return [Term.of_unit(reach[:, 0], usual, table, shared.maps.arrays[f"{self.name}.map"])]

    def _propagation(self, shared: Shared) -> Polynomial:
        """Π, of fewer steps for a large graph."""
        coefficients = restart_coefficients(RESTART, STEPS)
        return Polynomial(self.matrix(shared), shortened(coefficients, SHORT_DEGREE) if shared.large else coefficients)


def ridge_map(x: np.ndarray, z: np.ndarray, shards: Shards = ALONE) -> np.ndarray:
    """M = argmin ‖(X - x̄) M - Z‖² + ε σ² N ‖M‖², (D, E) float32, for X, (N, D), and Z, (N, E), of any storage.

    σ² is the mean variance of a column of X, and ε = 0.01. With several ``shards``, X and Z have the rows of this
    process. N are :func:`~.sample_of_rows`.
    """
    x, z = sample_of_rows(x, shards), sample_of_rows(z, shards)
    width = x.shape[1]

    def sums(part: slice) -> np.ndarray:
        found = np.zeros((width + 1, width + z.shape[1] + 1))  # [X, 1]ᵀ [X, Z, 1]
        for rows in row_blocks(part, max(width, z.shape[1])):
            block = as_float32(x[rows]).astype(np.float64)
            right = np.hstack([as_float32(z[rows]).astype(np.float64), np.ones((block.shape[0], 1))])
            found[:width] += block.T @ np.hstack([block, right])
            found[width, width:] += right.sum(axis=0)
        return found

    first, *others = where_many(sums, x.shape[0])
    found = shards.sum(sum(others, first))
    moments, total = found[:width], found[width, width:]
    mean = moments[:, -1] / max(total[-1], 1)
    square = moments[:, :width] - total[-1] * np.outer(mean, mean)
    cross = moments[:, width:-1] - np.outer(mean, total[:-1])
    penalty = PENALTY * np.trace(square) / width
    square[np.diag_indices(width)] += penalty or 1.0  # 1 where all columns are constant: M is 0 then
    return np.asarray(np.linalg.solve(square, cross), dtype=np.float32)
