"""Learner: what is trained."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from drgst.errors import SettingError
from drgst.graph.core import Graph
from drgst.nn.losses import NodeLoss
from drgst.nn.records import Curve, OnEpoch, State, Training
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings
from drgst.uncertainty.calibration import log_loss


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained learner's logits, embedding and state; ``gain`` computes B when called.

    ``gain(rng, False)`` may take a cheaper estimate than the settings ask for: no part of the recipe decides by it.
    """

    logits: np.ndarray  # (N, C)
    embedding: np.ndarray  # (N, D)
    state: State  # enough to predict again
    training: Training
    seconds: float
    gain: Callable[[np.random.Generator, bool], np.ndarray] = field(repr=False)
    selection_logits: np.ndarray | None = None  # (N, C) logits that the other parts use; None: ``logits``
    note: str = ""  # the choices that the learner made, in words


class Learner(Protocol):
    """Targets -> Trained, and a saved state -> logits on any graph.

    ``reads`` names the settings that the learner reads; a recipe accepts these and no others.
    """

    @property
    def reads(self) -> tuple[str, ...]: ...

    def train(
        self, problem: Problem, targets: Targets, loss: NodeLoss, seed: tuple[int, ...], on_epoch: OnEpoch | None, /
    ) -> Trained: ...

    def predict(self, state: State, graph: Graph, settings: Settings, /) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class Ablation:
    """The logits of a node without one view, feature, neighbour or labelled node."""

    kind: str  # "view", "feature", "neighbour" or "labelled"
    what: Any  # the index of a neighbour or labelled node, the name of a view or feature
    logits: np.ndarray  # (C,) of the learner, before calibration and postprocessing
    detail: str = ""  # a few words on it


@runtime_checkable
class Explains(Protocol):
    """A learner that knows what its prediction of a node becomes without each of its reasons.

    Reasons of its ``kinds`` come from it alone (none for features that it does not read); all others are computed by
    leaving out features and edges.
    """

    @property
    def kinds(self) -> tuple[str, ...]: ...

    def ablations(self, state: State, graph: Graph, settings: Settings, node: int, /) -> Iterable[Ablation]: ...


@runtime_checkable
class CrossFits(Protocol):
    """A learner whose choices for a problem stay the same in cross-fitting, and whose fold runs may be averaged."""

    def with_choices(self, problem: Problem, /) -> Learner: ...

    def average(self, own: State, others: Sequence[State], share: float, /) -> State: ...


@runtime_checkable
class Divides(Protocol):
    """A learner whose work several processes may share; ``undivided`` says why they can't for a problem, else ''."""

    def undivided(self, problem: Problem, /) -> str: ...


def fitted(name: str, problem: Problem, logits: np.ndarray, state: State, began: float) -> Trained:
    """What a learner without epochs and without information gain has learnt; its embedding is its logits."""

    def gain(_: np.random.Generator, exact: bool) -> np.ndarray:
        if exact:
            raise SettingError(f"{name} has no last layer that could be made random, so no information gain")
        return np.full(problem.graph.num_nodes, np.nan, dtype=np.float32)

    training = untrained(problem, logits, f"{name} has no epochs")
    return Trained(logits, logits, state, training, time.perf_counter() - began, gain)


def untrained(problem: Problem, logits: np.ndarray, reason: str) -> Training:
    """The record of a learner that has no epochs; there is no first loss that it could fail to improve on."""
    val = problem.split.val
    if not val.size:
        return Training(0, 0, np.nan, np.nan, np.nan, reason, Curve())
    labels = problem.graph.labels[val]
    right = float((logits[val].argmax(axis=1) == labels).mean())
    return Training(0, 0, np.nan, log_loss(logits[val], labels), right, reason, Curve())
