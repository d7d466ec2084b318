"""What the views of a fitted graph have learnt, and whether another graph contains its nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from drgst.graph.core import Graph
from drgst.transforms.products import MANY_ROWS

ID_BLOCK = MANY_ROWS  # ids that are read at a time
SAME_ROWS = 0.9  # of the fitted nodes that must have their features in a graph that contains them

Arrays = dict[str, np.ndarray]


@dataclass(eq=False)
class ViewMaps:
    """What was learnt from the fitted graph and is applied to every graph: maps of features, means, singular vectors.

    ``arrays`` are empty while the graph that they are learnt from is new; each is learnt when it is first needed.
    """

    arrays: Arrays = field(default_factory=dict)

    def learn(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """The array of that name, made where it is not there yet."""
        if name not in self.arrays:
            self.arrays[name] = np.asarray(make())
        return self.arrays[name]

    def under(self, prefix: str) -> Arrays:
        """The arrays whose names begin with ``prefix``, without it."""
        return {name.removeprefix(prefix): a for name, a in self.arrays.items() if name.startswith(prefix)}

    def fitted_nodes(self, graph: Graph) -> int:
        """How many nodes the fitted graph has, which is ``graph`` where nothing is learnt yet."""
        self.learn("nodes.ids", lambda: checksum_of_ids(graph, graph.num_nodes))
        return int(self.learn("nodes.rows", lambda: row_sums(graph, graph.num_nodes)).size)

    def are_of_the_first_nodes(self, graph: Graph) -> bool:
        """Whether ``graph`` begins with the fitted nodes: by their ids, and by the features of nine in ten."""
        old = self.arrays["nodes.rows"]
        if graph.num_nodes < old.size or checksum_of_ids(graph, old.size) != self.arrays["nodes.ids"]:
            return False
        return bool(np.isclose(row_sums(graph, old.size), old).mean() >= SAME_ROWS)


def checksum_of_ids(graph: Graph, nodes: int) -> np.ndarray:
    """A checksum of the ids of the first nodes, one per line."""
    checksum = 0
    for start in range(0, nodes, ID_BLOCK):
        text = "\n".join(map(str, graph.node_ids[start : min(start + ID_BLOCK, nodes)].tolist()))
        checksum = crc32((f"\n{text}" if start else text).encode(), checksum)
    return np.array(checksum, dtype=np.int64)


def row_sums(graph: Graph, nodes: int) -> np.ndarray:
    """Σ_j x_uj of the first nodes, (nodes,) float32."""
    rows = graph.features if nodes == graph.num_nodes else graph.features[:nodes]
    return np.asarray(rows.sum(axis=1), dtype=np.float32).reshape(-1)
