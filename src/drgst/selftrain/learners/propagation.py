"""A learner without a network: label propagation."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.errors import GraphError
from drgst.graph.core import Graph
from drgst.nn.losses import NodeLoss
from drgst.nn.ops.adjacency import laplacian_norm
from drgst.nn.training import OnEpoch
from drgst.selftrain.learners.base import Trained, fitted
from drgst.selftrain.postprocess.smooth import spread
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings

LEAST = 1e-3  # the uniform share of every prediction, so that no class is ever held to be impossible


def propagated(s: sp.csr_array, start: np.ndarray, alpha: float) -> np.ndarray:
    """F = α (I - (1-α) S)^-1 Y, (N, C), by Fᵗ⁺¹ = α Y + (1-α) S Fᵗ until (1-α)ᵗ < 1e-6."""
    return spread(s, start, 1 - alpha, int(np.ceil(np.log(1e-6) / np.log(1 - alpha))))


def shares(f: np.ndarray) -> np.ndarray:
    """Rows of F as probabilities, mixed with a thousandth of the uniform; a row of zeros is uniform, (N, C)."""
    total = f.sum(axis=1, keepdims=True)
    uniform = 1.0 / f.shape[1]
    p = np.divide(f, total, out=np.full_like(f, uniform), where=total > 0)
    return (1 - LEAST) * p + LEAST * uniform


@dataclass(frozen=True)
class LabelPropagation:
    """F = α (I - (1-α) S)^-1 Y with S = D^-½ A D^-½, p = F / Σ_k F_k (Zhou et al., NeurIPS 2003), (N, C).

    Y has w_i at (i, y_i) for every target i. Features are not used, and neither is the loss. A node that no label
    reaches gets the same probability for every class. It knows one graph: it can't predict on another.
    """

    alpha: float = 0.1
    reads: ClassVar[tuple[str, ...]] = ()

    def train(
        self, problem: Problem, targets: Targets, _loss: NodeLoss, _seed: tuple[int, ...], _on_epoch: OnEpoch | None
    ) -> Trained:
        """Spread the targets."""
        began = time.perf_counter()
        state = {
            "nodes": torch.from_numpy(np.array(targets.nodes, dtype=np.int64)),
            "labels": torch.from_numpy(np.array(targets.labels, dtype=np.int64)),
            "weights": torch.from_numpy(np.array(targets.weights, dtype=np.float64)),
            "size": torch.tensor([problem.graph.num_nodes, problem.graph.num_edges]),
        }
        logits = self.predict(state, problem.graph, problem.settings)
        return fitted("label propagation", problem, logits, state, began)

    def predict(self, state: Mapping[str, Tensor], graph: Graph, _settings: Settings) -> np.ndarray:
        """log p of every node of the graph that the labels are on, (N, C)."""
        if state["size"].tolist() != [graph.num_nodes, graph.num_edges]:
            raise GraphError(
                "label propagation predicts only on the graph it was fitted on, "
                f"with {int(state['size'][0]):,} nodes and {int(state['size'][1]):,} edges"
            )
        start = np.zeros((graph.num_nodes, graph.num_classes))
        np.add.at(start, (state["nodes"].numpy(), state["labels"].numpy()), state["weights"].numpy())
        s = -laplacian_norm(graph.adjacency).astype(np.float64)
        return np.log(shares(propagated(s, start, self.alpha))).astype(np.float32)
