"""The view ``knn``: features propagated along the edges of the neighbour graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features, Graph
from drgst.selftrain.views.base import PropagatedView
from drgst.selftrain.views.shared import Shared
from drgst.transforms.features import row_l2
from drgst.transforms.knn import can_find_neighbours, knn_adjacency
from drgst.transforms.propagate import sym_norm

NEIGHBOURS, FEWER_NEIGHBOURS = 10, 5  # experiment 009; of more than 100,000 nodes: experiment 049


class Knn(PropagatedView):
    """S = Â of the neighbour graph: edges to the 10 nearest nodes by cosine of weighted features. X = feature table.

    Above 100,000 nodes to the 5 nearest.
    """

    name = "knn"
    needs_features = True

    def applies(self, graph: Graph, features: bool) -> bool:
        """Also by the number of nodes: three or more, and above 30,000 only where faiss is installed."""
        return super().applies(graph, features) and graph.num_nodes > 2 and can_find_neighbours(graph.num_nodes)

    def matrix(self, shared: Shared) -> sp.csr_array:
        return shared.once("neighbour graph", lambda: sym_norm(neighbour_graph(shared), shared.shards))


def neighbour_graph(shared: Shared) -> sp.csr_array:
    """A_uv = 1 where v is among the k nearest of u, or u among those of v, (N, N); of shards, this process's rows."""
    divided = shared.shards.size > 1 and shared.large
    rows = WeightedRows(shared) if divided else shared.feature_map.weighted(shared.graph.features)
    k = min(FEWER_NEIGHBOURS if shared.large else NEIGHBOURS, shared.graph.num_nodes - 1)
    return knn_adjacency(rows, k, lambda: shared.table, shared.shards)


class WeightedRows:
    """The unit rows of weighted features, read when they are asked for: those of a large graph are a file."""

    def __init__(self, shared: Shared) -> None:
        self.features, self.weighted, self.shape = (
            shared.graph.features,
            shared.feature_map.weighted,
            (shared.graph.num_nodes, shared.feature_map.scale.size),
        )

    def __getitem__(self, nodes: np.ndarray) -> Features:
        return row_l2(self.weighted(self.features[nodes]))  # as the whole matrix would be, to the last bit
