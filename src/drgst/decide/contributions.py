"""What a prediction of drgst-plus is made of: the contributions of features, neighbours and views, computed exactly.

The row of a node in a view is a linear function of the features of all nodes, once its length is given: views centre,
propagate and map. So the logits l_v = z_v W_v + b_v of a view are sums over features, or over nodes. The average node
has z_v = 0: contributions are relative to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.graph.core import Graph
from drgst.nn.records import State
from drgst.selftrain.views.ensemble import carried_over, linear_of
from drgst.transforms.softmax import log_softmax


@dataclass(frozen=True, eq=False)
class Contributions:
    """log p = log softmax(Σ_v w_v log softmax(l_v)) of one node, and what l_v is made of, over V views."""

    names: tuple[str, ...]  # of the views
    weights: np.ndarray  # w, (V,)
    logits: np.ndarray  # l, (V, C)
    features: np.ndarray  # (V, F, C), of each feature at all nodes; 0 in a view without features
    own: np.ndarray  # (V, F, C), of each feature at the node itself
    neighbours: np.ndarray  # (V, K, C), of the rows of its neighbours

    def without(self, part: np.ndarray) -> np.ndarray:
        """The logits of the node, (C,), without a ``part`` of l, (V, C)."""
        return self._combined(self.logits - part, self.weights)

    def without_view(self, name: str) -> np.ndarray:
        """The logits of the node, (C,), by the other views, whose weights are made to sum to 1."""
        kept = np.array([other != name for other in self.names])
        return self._combined(self.logits[kept], self.weights[kept] / self.weights[kept].sum())

    def alone(self, name: str) -> np.ndarray:
        """p of one view alone, (C,)."""
        return np.exp(log_softmax(self.logits[[self.names.index(name)]]))[0]

    @staticmethod
    def _combined(logits: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return log_softmax((weights @ log_softmax(logits))[None])[0]


class ViewContributions:
    """The contributions at any node of the graph that an ensemble was fitted on; what they have in common is kept."""

    def __init__(self, state: State, graph: Graph) -> None:
        self.graph = graph
        self.views, self.state, self.weights = carried_over(state, graph)
        if any(self.views.views[name].needs_features for name in self.weights):
            self.rows = self.views.feature_map.weighted(graph.features)
            self.mean_row = np.asarray(self.rows.mean(axis=0)).ravel()

    def at(self, node: int, neighbours: np.ndarray) -> Contributions:
        """The contributions at ``node``; ``neighbours`` are nodes, (K,)."""
        count = (len(self.weights), self.graph.num_features, self.graph.num_classes)
        logits, features, own = np.zeros((count[0], count[2])), np.zeros(count), np.zeros(count)
        by_neighbour = np.zeros((count[0], neighbours.size, count[2]))
        for v, name in enumerate(self.weights):
            weight, bias = linear_of(self.state, name)
            logits[v] = bias
            for term in self.views.views[name].terms(self.views, node):
                slope = term.weight @ weight  # (D, C)
                logits[v] += term.row @ slope
                apart = term.table[neighbours] - term.table.mean(axis=0)
                by_neighbour[v] += term.reach[neighbours, None] * (apart @ slope)
                if self.views.views[name].needs_features:
                    vectors = self.views.feature_map.vectors
                    slope = slope if vectors is None else vectors @ slope  # (F, C)
                    features[v] += np.asarray(self.rows.T @ (term.reach - term.usual)).ravel()[:, None] * slope
                    row = self.rows[[node]]
                    row = row if isinstance(row, np.ndarray) else row.toarray()
                    own[v] += (term.reach[node] * (row[0] - self.mean_row))[:, None] * slope
        weights = np.array(list(self.weights.values()))
        return Contributions(tuple(self.weights), weights, logits, features, own, by_neighbour)
