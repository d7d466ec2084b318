"""Calibrate by matrices over a node's own log-probabilities and those of its neighbourhood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from drgst.graph.core import Graph
from drgst.selftrain.calibrate.base import VALIDATION, Calibrate, Learnt
from drgst.selftrain.problem import Problem
from drgst.transforms.normalise import sym_norm
from drgst.transforms.softmax import log_softmax
from drgst.uncertainty.calibration import apply_matrices, fit_matrices, own_and_smoothed


@dataclass(frozen=True)
class Mixing(Calibrate):
    """z' = log p W_1 + log p̄ W_2 + b, p̄ = p smoothed over the edges: may change the argmax.

    Fitted to the validation nodes' cross-entropy with W shrunk to scales
    (:func:`~drgst.uncertainty.calibration.fit_matrices`). The matrices correct confused classes, and
    nodes whose neighbours are classified better than they are. drgst-plus does the same with its validation labels.
    """

    requires: ClassVar[frozenset[str]] = VALIDATION

    def fit(self, logits: np.ndarray, problem: Problem, _stage: int) -> Learnt:
        """W_1, W_2 and b."""
        val = problem.split.val
        matrices, shift = fit_matrices(_log_probs(logits, problem.graph)[:, val], problem.graph.labels[val])
        return {"matrices": torch.from_numpy(matrices), "shift": torch.from_numpy(shift)}

    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, _device: str) -> np.ndarray:
        """log softmax of z'."""
        z = apply_matrices(_log_probs(logits, graph), learnt["matrices"].numpy(), learnt["shift"].numpy())
        return z.astype(logits.dtype)


def _log_probs(logits: np.ndarray, graph: Graph) -> np.ndarray:
    return own_and_smoothed(log_softmax(np.asarray(logits, dtype=np.float64)), sym_norm(graph.adjacency))
