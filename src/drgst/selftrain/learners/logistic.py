"""A learner without a network: logistic regression on smoothed features."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drgst.errors import GraphError
from drgst.graph.core import Features, Graph
from drgst.nn.losses import NodeLoss
from drgst.nn.records import OnEpoch, State
from drgst.selftrain.learners.base import Trained, fitted
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.transforms.features import idf, row_l2, scale_columns
from drgst.transforms.propagate import propagate_to_limit, sym_norm


def smoothed_rows(graph: Graph, x: Features, nodes: np.ndarray, alpha: float) -> np.ndarray:
    """(Π X)_u for u in ``nodes``, (M, F), Π = α (I - (1-α) Â)^-1: Π is symmetric, so M columns of it suffice."""
    start = np.zeros((graph.num_nodes, nodes.size), dtype=np.float32)
    start[nodes, np.arange(nodes.size)] = 1
    reach = propagate_to_limit(sym_norm(graph.adjacency), start, alpha)
    return np.asarray(reach.T @ x if isinstance(x, np.ndarray) else (x.T @ reach).T)


@dataclass(frozen=True)
class LogisticPPR:
    """logits = Π X W + b with Π = α (I - (1-α) Â)^-1, W and b by weighted, L2-regularised logistic regression.

    min over W, b of Σ_i w_i · -log softmax((Π X)_i W + b)_{y_i} + ‖W‖² / (2c), scikit-learn's, c = ``inverse_l2``.
    X is TF-IDF with unit rows (unit rows alone where a feature is negative). Π X is formed for the targets only;
    a prediction is Π (X W) + b. The loss of the recipe's ``correct`` part is not used.
    """

    alpha: float = 0.1
    inverse_l2: float = 100.0
    reads: ClassVar[tuple[str, ...]] = ()

    def train(
        self, problem: Problem, targets: Targets, _loss: NodeLoss, _seed: tuple[int, ...], _on_epoch: OnEpoch | None
    ) -> Trained:
        """Fit W and b to the targets."""
        from sklearn.linear_model import LogisticRegression

        began = time.perf_counter()
        graph = problem.graph
        if not graph.num_features:
            raise GraphError(f"logistic-ppr needs features, and {graph.name!r} has none (try label-propagation)")
        scale = _column_scale(graph.features)
        x = row_l2(scale_columns(graph.features, scale))
        rows = smoothed_rows(graph, x, targets.nodes, self.alpha)
        model = LogisticRegression(C=self.inverse_l2, max_iter=1000)
        model.fit(rows, targets.labels, sample_weight=targets.weights)
        weight, bias = _all_classes(model.coef_, model.intercept_)
        state = {"idf": scale, "weight": weight, "bias": bias}
        logits = self.predict(state, graph, problem.settings)
        return fitted("logistic-ppr", problem, logits, state, began)

    def predict(self, state: State, graph: Graph, _settings: Settings) -> np.ndarray:
        """Π (X W) + b on any graph with the same features, (N, C)."""
        x = row_l2(scale_columns(graph.features, state["idf"]))
        mixed = np.asarray(x @ state["weight"])
        return propagate_to_limit(sym_norm(graph.adjacency), mixed, self.alpha) + state["bias"]


def _column_scale(features: Features) -> np.ndarray:
    """idf, or ones where a feature is negative, (F,)."""
    values = features if isinstance(features, np.ndarray) else features.data
    if values.size and values.min() < 0:
        return np.ones(features.shape[1], dtype=np.float32)
    return idf(features)


def _all_classes(weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(F, C) and (C,); two classes share one column in scikit-learn, the logit of the second."""
    if weight.shape[0] == 1:
        weight, bias = np.vstack([np.zeros_like(weight), weight]), np.append(0.0, bias)
    return np.ascontiguousarray(weight.T, dtype=np.float32), bias.astype(np.float32)
