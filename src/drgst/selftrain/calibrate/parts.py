"""Calibrate: are the probabilities honest? A part is fitted after every training, nearly always on validation nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import torch
from scipy.special import log_softmax
from torch import Tensor

from drgst.errors import SettingError
from drgst.graph.core import Graph
from drgst.nn.inputs import open_device
from drgst.nn.ops.adjacency import Adjacency, sym_norm
from drgst.nn.random import generator
from drgst.selftrain.learners.network import Problem
from drgst.selftrain.postprocess.smooth import own_and_around
from drgst.uncertainty.cagcn import CalibrationLoss, apply_cagcn, fit_cagcn
from drgst.uncertainty.calibration import apply_matrices, fit_matrices, fit_scale_and_bias, fit_temperature

CALIBRATION = 3_000_017  # sets the generator of calibration apart from all others
Learnt = Mapping[str, Tensor]


class Calibrate(Protocol):
    """The verb: learn something from the validation nodes, and apply it to the logits of any graph.

    ``needs_validation`` (False where it is left out) says that it can't be fitted without validation nodes. ``fit``
    gives None where there is nothing to learn from, and the logits stay. A part may also have ``words(learnt)``, a
    sentence for the stage's note, and ``bound(recipe)``, the part for a run of that recipe.
    """

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> Learnt | None: ...

    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray: ...


@dataclass(frozen=True)
class Identity:
    """z' = z."""

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> Learnt:  # noqa: ARG002
        """Nothing."""
        return {}

    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:  # noqa: ARG002
        """The logits as they are."""
        return logits


@dataclass(frozen=True)
class Temperature:
    """z' = z / T, T = argmin of the validation nodes' cross-entropy (Guo et al., ICML 2017): keeps every argmax."""

    needs_validation: ClassVar[bool] = True

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> Learnt:  # noqa: ARG002
        """T."""
        val = validation(problem, self)
        return {"temperature": torch.tensor(fit_temperature(logits[val], problem.graph.labels[val]))}

    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:  # noqa: ARG002
        """z / T."""
        return (logits / learnt["temperature"].numpy()).astype(logits.dtype)


@dataclass(frozen=True)
class BiasCorrected:
    """z' = a z + b, a scale and a shift a class (Alexandari et al., ICML 2020): may change the argmax.

    Fitted to the validation nodes' cross-entropy with a little shrinkage of b: with few training labels, much of
    the error lies in the class shares, which b mends.
    """

    needs_validation: ClassVar[bool] = True

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> Learnt:  # noqa: ARG002
        """a and b."""
        val = validation(problem, self)
        scale, shift = fit_scale_and_bias(logits[val], problem.graph.labels[val])
        return {"scale": torch.tensor(scale), "shift": torch.from_numpy(shift)}

    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:  # noqa: ARG002
        """a z + b."""
        return (logits * learnt["scale"].numpy() + learnt["shift"].numpy()).astype(logits.dtype)


@dataclass(frozen=True)
class Mixing:
    """z' = log p W_1 + log p̄ W_2 + b, p̄ = p smoothed over the edges: a matrix for a node's own belief and one for that
    around it (:func:`~drgst.uncertainty.calibration.fit_matrices`): may change the argmax.

    Fitted to the validation nodes' cross-entropy with W shrunk to scales: where classes are taken for one another, and
    where neighbours know better, the matrices say so. What drgst-plus does with its validation labels.
    """

    needs_validation: ClassVar[bool] = True

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> Learnt:  # noqa: ARG002
        """W_1, W_2 and b."""
        val = validation(problem, self)
        opinions = self._opinions(logits, problem.graph)
        matrices, shift = fit_matrices(opinions[:, val], problem.graph.labels[val])
        return {"matrices": torch.from_numpy(matrices), "shift": torch.from_numpy(shift)}

    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:  # noqa: ARG002
        """log softmax of z'."""
        z = apply_matrices(self._opinions(logits, graph), learnt["matrices"].numpy(), learnt["shift"].numpy())
        return z.astype(logits.dtype)

    @staticmethod
    def _opinions(logits: np.ndarray, graph: Graph) -> np.ndarray:
        return own_and_around(log_softmax(np.asarray(logits, dtype=np.float64), axis=1), sym_norm(graph.adjacency))


@dataclass(frozen=True)
class CaGCN:
    """z'_u = z_u · log(exp(t_u) + 1.1), t = GCN(Z) of 16 units: a temperature for each node; keeps every argmax.

    Fitted to the validation nodes with cross-entropy + λ · (t_statistic of the first class, to be large where it is
    right and small where it is wrong), λ = 0.5, 200 epochs of Adam 0.01 with weight decay 5e-3. Its authors stop
    early on the training nodes; those are fitted already and ask for ever more confidence, so here the number of
    epochs is fixed.
    """

    weight: float = 0.5
    hidden: int = 16
    needs_validation: ClassVar[bool] = True

    def fit(self, logits: np.ndarray, problem: Problem, stage: int) -> Learnt:
        """The weights of t's network."""
        val = validation(problem, self)
        loss = CalibrationLoss(val, problem.graph.labels[val], self.weight)
        rng = generator(problem.seed, stage, CALIBRATION)
        return fit_cagcn(logits, problem.inputs.adj, loss, rng, self.hidden)

    def apply(self, learnt: Learnt, logits: np.ndarray, graph: Graph, device: str) -> np.ndarray:
        """z ∘ s."""
        return apply_cagcn(learnt, logits, Adjacency(graph.adjacency, open_device(device)))


PREFIX = "calibration/"  # of what was learnt, among the tensors of a stage; no module's name holds a slash


def stored(learnt: Learnt) -> dict[str, Tensor]:
    """What was learnt, named so that it can stand beside a network's weights."""
    return {PREFIX + name: value for name, value in learnt.items()}


def parted(state: Learnt) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The network's own tensors, and what the calibration learnt."""
    own = {name: value for name, value in state.items() if not name.startswith(PREFIX)}
    learnt = {name.removeprefix(PREFIX): value for name, value in state.items() if name.startswith(PREFIX)}
    return own, learnt


CALIBRATORS: dict[str, type[Identity | Temperature | BiasCorrected | Mixing | CaGCN]] = {
    "none": Identity,
    "temperature": Temperature,
    "bias": BiasCorrected,
    "mixing": Mixing,
    "cagcn": CaGCN,
}


def validation(problem: Problem, part: object) -> np.ndarray:
    """The validation nodes, or a refusal where there is none."""
    if not problem.split.val.size:
        raise SettingError(
            f"{type(part).__name__} is fitted to validation nodes, but the split has none: "
            "take calibrate=none and a recipe that does not calibrate, or give the split validation nodes"
        )
    return problem.split.val
