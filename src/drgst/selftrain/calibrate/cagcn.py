"""Calibrate by a temperature for each node, from a network on the logits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drgst.graph.core import Graph
from drgst.nn.inputs import open_device
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.random import generator
from drgst.selftrain.calibrate.base import VALIDATION, Calibrate, Learnt
from drgst.selftrain.problem import Problem
from drgst.uncertainty.cagcn import CalibrationLoss, apply_cagcn, fit_cagcn

CALIBRATION = 3_000_017  # sets the generator of calibration apart from all others


@dataclass(frozen=True)
class CaGCN(Calibrate):
    """z'_u = z_u · log(exp(t_u) + 1.1), t = GCN(Z) of 16 units: a temperature for each node; keeps every argmax.

    Fitted to the validation nodes with cross-entropy + λ · (margin of the first class, to be large where it is
    right and small where it is wrong), λ = 0.5, 200 epochs of Adam 0.01 with weight decay 5e-3. Its authors stop
    early on the training nodes; those are fitted already and ask for ever more confidence, so here the number of
    epochs is fixed.
    """

    requires: ClassVar[frozenset[str]] = VALIDATION

    weight: float = 0.5
    hidden: int = 16

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> Learnt:
        """The weights of t's network."""
        val = problem.split.val
        adj = Adjacency(problem.graph.adjacency, open_device(problem.settings.device))
        rng = generator(problem.seed, stage, CALIBRATION)
        loss = CalibrationLoss(val, problem.graph.labels[val], self.weight)
        return fit_cagcn(logits, adj, loss, rng, self.hidden)

    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:
        """z ∘ s."""
        return apply_cagcn(learnt, logits, Adjacency(graph.adjacency, open_device(device)))
