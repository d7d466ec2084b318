"""Learners without a network: label propagation, and logistic regression on smoothed features."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drgst.errors import GraphError
from drgst.graph.core import Features, Graph
from drgst.nn.losses import NodeLoss
from drgst.nn.records import OnEpoch, State
from drgst.selftrain.learners.base import Ablation, Trained, fitted
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.transforms.features import idf, row_l2, scale_columns
from drgst.transforms.propagate import propagate_to_limit, sym_norm, sym_norm_without_loops

MOST_LABELLED = 10  # labelled nodes that an explanation names
UNIFORM_SHARE = 1e-3  # of every prediction, so that no class has probability 0


def row_probabilities(f: np.ndarray) -> np.ndarray:
    """p = F / Σ_k F_k, mixed with a thousandth of the uniform distribution; a row of zeros is uniform, (N, C)."""
    total = f.sum(axis=1, keepdims=True)
    uniform = 1.0 / f.shape[1]
    p = np.divide(f, total, out=np.full_like(f, uniform), where=total > 0)
    return (1 - UNIFORM_SHARE) * p + UNIFORM_SHARE * uniform


def node_keys(graph: Graph, nodes: np.ndarray) -> np.ndarray:
    """A 64-bit hash of id and features of each of ``nodes``, (M,): the same node in a larger graph has it too."""
    x = graph.features[nodes]
    sparse = not isinstance(x, np.ndarray)
    found = np.empty(nodes.size, dtype=np.int64)
    for k, name in enumerate(graph.node_ids[nodes].tolist()):
        total = hashlib.blake2b(str(name).encode(), digest_size=8)
        if sparse:
            row = slice(x.indptr[k], x.indptr[k + 1])
            total.update(x.indices[row].astype(np.int64).tobytes())
            total.update(x.data[row].tobytes())
        else:
            total.update(np.ascontiguousarray(x[k]).tobytes())
        found[k] = int.from_bytes(total.digest(), "little", signed=True)
    return found


@dataclass(frozen=True)
class LabelPropagation:
    """F = α (I - (1-α) S)^-1 Y with S = D^-½ A D^-½, p = F / Σ_k F_k (Zhou et al., NeurIPS 2003), (N, C).

    Y has w_i at (i, y_i) for every target i. Features are not used, and neither is the loss. A node that no label
    reaches gets the same probability for every class. It predicts on the graph it was fitted on and on graphs that
    contain its labelled nodes, which are found by id and features.
    """

    alpha: float = 0.1
    reads: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = ("labelled", "feature")  # of the reasons it gives: no feature is one

    def train(
        self, problem: Problem, targets: Targets, _loss: NodeLoss, _seed: tuple[int, ...], _on_epoch: OnEpoch | None
    ) -> Trained:
        began = time.perf_counter()
        state = {
            "keys": node_keys(problem.graph, targets.nodes),
            "labels": np.array(targets.labels, dtype=np.int64),
            "weights": np.array(targets.weights, dtype=np.float64),
        }
        logits = self.predict(state, problem.graph, problem.settings)
        return fitted("label propagation", problem, logits, state, began)

    def predict(self, state: State, graph: Graph, _settings: Settings) -> np.ndarray:
        """log p of every node of a graph that contains the targets, (N, C)."""
        start = np.zeros((graph.num_nodes, graph.num_classes))
        np.add.at(start, (_places(state, graph), state["labels"]), state["weights"])
        s = sym_norm_without_loops(graph.adjacency).astype(np.float64)
        return np.log(row_probabilities(propagate_to_limit(s, start, self.alpha))).astype(np.float32)

    def ablations(self, state: State, graph: Graph, _settings: Settings, node: int) -> list[Ablation]:
        """log p_u without each labelled node: F_u = Σ_i R_ui w_i e_{y_i} with R = α (I - (1-α) S)^-1, symmetric.

        Those of largest R_ui w_i, at most ten.
        """
        start = np.zeros((graph.num_nodes, 1))
        start[node] = 1
        reach = propagate_to_limit(sym_norm_without_loops(graph.adjacency).astype(np.float64), start, self.alpha)
        places, labels = _places(state, graph), state["labels"]
        share = reach[places, 0] * state["weights"]
        total = np.bincount(labels, weights=share, minlength=graph.num_classes)
        found = []
        for k in np.argsort(-share, kind="stable")[:MOST_LABELLED].tolist():
            rest = total.copy()
            rest[labels[k]] = max(rest[labels[k]] - share[k], 0)
            log_p = np.log(row_probabilities(rest[None]))[0]
            found.append(Ablation("labelled", int(places[k]), log_p, f"labelled {graph.class_names[labels[k]]}"))
        return found


def _places(state: State, graph: Graph) -> np.ndarray:
    """The nodes of ``graph`` that are the targets of ``state``, (M,)."""
    keys, mine = state["keys"], node_keys(graph, np.arange(graph.num_nodes))
    order = np.argsort(mine, kind="stable")
    place = order[np.minimum(np.searchsorted(mine, keys, sorter=order), mine.size - 1)]
    lost = int((mine[place] != keys).sum())
    if lost:
        raise GraphError(
            "label propagation predicts on graphs that contain the nodes it was fitted on, and "
            f"{lost:,} of its {keys.size:,} labelled nodes are not in this one"
        )
    return np.asarray(place)


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
