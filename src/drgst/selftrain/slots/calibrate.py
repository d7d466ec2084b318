"""Calibrate: calibrated probabilities. A part of this slot is fitted after every training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drgst.graph.core import Graph
from drgst.nn.random import generator
from drgst.nn.records import State
from drgst.selftrain.problem import Problem
from drgst.transforms.propagate import sym_norm
from drgst.transforms.softmax import log_softmax
from drgst.uncertainty.calibration import (
    apply_matrices,
    fit_matrices,
    fit_scale_and_bias,
    fit_temperature,
    own_and_smoothed,
)

VALIDATION = frozenset({"validation"})


class Calibrate(ABC):
    """Logits -> calibrated logits, by what :meth:`fit` learns, nearly always from the validation nodes.

    ``requires`` contains ``"validation"`` where fitting needs validation nodes; a run without them is then
    refused before anything is trained.
    """

    requires: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def fit(self, logits: np.ndarray, problem: Problem, stage: int, /) -> State | None:
        """What :meth:`apply` needs; None where there is nothing to learn from: the logits then stay as they are."""

    @abstractmethod
    def apply(self, learnt: State, logits: np.ndarray, graph: Graph, device: str, /) -> np.ndarray:
        """Calibrated logits of any graph, (N, C)."""


@dataclass(frozen=True)
class Identity(Calibrate):
    """z' = z."""

    def fit(self, _logits: np.ndarray, _problem: Problem, _stage: int) -> None:
        return None

    def apply(self, _learnt: State, logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        return logits


@dataclass(frozen=True)
class Temperature(Calibrate):
    """z' = z / T, T = argmin of the validation nodes' cross-entropy (Guo et al., ICML 2017): keeps every argmax."""

    requires: ClassVar[frozenset[str]] = VALIDATION

    def fit(self, logits: np.ndarray, problem: Problem, _stage: int) -> State:
        val = problem.split.val
        return {"temperature": np.array(fit_temperature(logits[val], problem.graph.labels[val]), dtype=np.float32)}

    def apply(self, learnt: State, logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        return (logits / learnt["temperature"]).astype(logits.dtype)


@dataclass(frozen=True)
class BiasCorrected(Calibrate):
    """z' = a z + b, one scale and a shift per class (Alexandari et al., ICML 2020): may change the argmax.

    Fitted to the validation nodes' cross-entropy with a little shrinkage of b. With few training labels, much of
    the error lies in the class shares, which b corrects.
    """

    requires: ClassVar[frozenset[str]] = VALIDATION

    def fit(self, logits: np.ndarray, problem: Problem, _stage: int) -> State:
        val = problem.split.val
        scale, shift = fit_scale_and_bias(logits[val], problem.graph.labels[val])
        return {"scale": np.array(scale, dtype=np.float32), "shift": shift}

    def apply(self, learnt: State, logits: np.ndarray, _graph: Graph, _device: str) -> np.ndarray:
        return (logits * learnt["scale"] + learnt["shift"]).astype(logits.dtype)


@dataclass(frozen=True)
class Mixing(Calibrate):
    """z' = log p W_1 + log p̄ W_2 + b, p̄ = p smoothed over the edges: may change the argmax.

    Fitted to the validation nodes' cross-entropy with W shrunk to scales
    (:func:`~drgst.uncertainty.calibration.fit_matrices`). The matrices correct confused classes, and
    nodes whose neighbours are classified better than they are.
    """

    requires: ClassVar[frozenset[str]] = VALIDATION

    def fit(self, logits: np.ndarray, problem: Problem, _stage: int) -> State:
        val = problem.split.val
        matrices, shift = fit_matrices(_log_probs(logits, problem.graph)[:, val], problem.graph.labels[val])
        return {"matrices": matrices, "shift": shift}

    def apply(self, learnt: State, logits: np.ndarray, graph: Graph, _device: str) -> np.ndarray:
        z = apply_matrices(_log_probs(logits, graph), learnt["matrices"], learnt["shift"])
        return z.astype(logits.dtype)


def _log_probs(logits: np.ndarray, graph: Graph) -> np.ndarray:
    return own_and_smoothed(log_softmax(np.asarray(logits, dtype=np.float64)), sym_norm(graph.adjacency))


CALIBRATION = 3_000_017  # sets the generator of calibration apart from all others


@dataclass(frozen=True)
class CaGCN(Calibrate):
    """z'_u = z_u · log(exp(t_u) + 1.1), t = GCN(Z) of 16 units: a temperature for each node; keeps every argmax.

    Fitted to the validation nodes with cross-entropy + λ · (margin of the first class, to be large where it is
    right and small where it is wrong), λ = 0.5, 200 epochs of Adam 0.01 with weight decay 5e-3. Its authors stop
    early on the training nodes. The network has fitted these, so their loss keeps falling with more confidence; hence
    the number of epochs is fixed here.
    """

    requires: ClassVar[frozenset[str]] = VALIDATION

    weight: float = 0.5
    hidden: int = 16

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> State:
        from drgst.nn.inputs import open_device  # imports torch, which is slow
        from drgst.nn.ops.adjacency import Adjacency
        from drgst.uncertainty.cagcn import CalibrationLoss, fit_cagcn

        val = problem.split.val
        adj = Adjacency(problem.graph.adjacency, open_device(problem.settings.device))
        rng = generator(problem.seed, stage, CALIBRATION)
        loss = CalibrationLoss(val, problem.graph.labels[val], self.weight)
        return fit_cagcn(logits, adj, loss, rng, self.hidden)

    def apply(self, learnt: State, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:
        from drgst.nn.inputs import open_device  # imports torch, which is slow
        from drgst.nn.ops.adjacency import Adjacency
        from drgst.uncertainty.cagcn import apply_cagcn

        return apply_cagcn(learnt, logits, Adjacency(graph.adjacency, open_device(device)))
