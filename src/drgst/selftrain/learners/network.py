"""Learners: what turns targets into beliefs. The usual one trains a network."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import Any, Protocol, cast

import numpy as np
import torch
from torch import Tensor

from drgst.errors import RunError, SettingError
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.nn.inputs import Inputs, make_inputs
from drgst.nn.losses import NodeLoss, Objective, WeightedLoss
from drgst.nn.models.base import Backbone
from drgst.nn.random import generator, seeded_torch
from drgst.nn.registry import make_backbone
from drgst.nn.training import NetworkTrainer, OnEpoch, Training, ValidationSet, forward
from drgst.selftrain.settings import Settings
from drgst.uncertainty.gain import estimate_gain, fastest_settings


@dataclass(frozen=True, eq=False)
class Problem:
    """What a run may know: the graph with all labels hidden but those of train and val, the split, settings, seed."""

    graph: Graph
    split: Split
    settings: Settings
    seed: int = 0

    @classmethod
    def of(cls, graph: Graph, split: Split, settings: Settings, seed: int = 0) -> Problem:
        """Check seed and split, and hide every label that is neither a training nor a validation label."""
        if not isinstance(seed, Integral) or seed < 0:
            raise SettingError(f"seed is {seed!r} (allowed: whole numbers from 0)")
        split.check(graph)
        shown = np.full(graph.num_nodes, -1, dtype=np.int64)
        for part in (split.train, split.val):
            shown[part] = graph.labels[part]
        return cls(graph.with_(labels=shown), split, settings, seed)

    @cached_property
    def inputs(self) -> Inputs:
        """The tensors of the graph."""
        return make_inputs(self.graph, self.settings.device, self.settings.normalise)

    @property
    def watch(self) -> ValidationSet:
        """Validation nodes and labels."""
        return ValidationSet(self.split.val, self.graph.labels[self.split.val])


@dataclass(frozen=True, eq=False)
class Targets:
    """V_L ∪ S_U with labels and weights; the true ones come first."""

    nodes: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    true: int  # how many of them are true labels


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained learner's logits, embedding and state; ``gain`` computes B when called.

    ``gain(rng, False)`` may take a cheaper estimate than the settings ask for: the recipe only reports it.
    """

    logits: np.ndarray  # (N, C)
    embedding: np.ndarray  # (N, D)
    state: Mapping[str, Tensor]  # enough to make it again
    training: Training
    seconds: float
    gain: Callable[[np.random.Generator, bool], np.ndarray] = field(repr=False)
    selection_logits: np.ndarray | None = None  # (N, C) logits that the other parts go by; None: ``logits``
    note: str = ""  # what a person should know of the choices it made


ObjectiveMaker = Callable[[Problem, Targets, NodeLoss], Objective]


class Learner(Protocol):
    """What the engine trains: from targets to a Trained, and back from a saved state to logits on any graph."""

    def train(
        self, problem: Problem, targets: Targets, loss: NodeLoss, seed: tuple[int, ...], on_epoch: OnEpoch | None
    ) -> Trained: ...

    def predict(self, state: Mapping[str, Tensor], graph: Graph, settings: Settings) -> np.ndarray: ...


def weighted_loss(problem: Problem, targets: Targets, loss: NodeLoss) -> Objective:
    """Eq. final_loss over the targets: what nearly every recipe minimises."""
    return WeightedLoss(targets.nodes, targets.labels, targets.weights, loss, problem.inputs.device)


@dataclass(frozen=True)
class Network:
    """Trains a backbone from scratch with Adam and early stopping (:class:`drgst.nn.training.NetworkTrainer`)."""

    backbone: Any = None  # a name, a class or a callable (features, classes) -> module; None: settings.backbone
    objective: ObjectiveMaker = weighted_loss

    def network(self, features: int, classes: int, settings: Settings) -> Backbone:
        """A fresh network from F features to C classes."""
        spec = settings.backbone if self.backbone is None else self.backbone
        made = make_backbone(
            spec, features, classes, hidden=settings.hidden, dropout=settings.dropout, start=settings.start
        )
        return cast(Backbone, made)

    def train(
        self, problem: Problem, targets: Targets, loss: NodeLoss, seed: tuple[int, ...], on_epoch: OnEpoch | None
    ) -> Trained:
        """From fresh weights to a network fitted to ``targets``."""
        began = time.perf_counter()
        rng = generator(*seed)
        with seeded_torch(rng):
            graph = problem.graph
            network = self.network(graph.num_features, graph.num_classes, problem.settings)
            network = network.to(problem.inputs.device)
        objective = self.objective(problem, targets, loss)
        trainer = NetworkTrainer(network, problem.inputs, objective, problem.watch, problem.settings.schedule(), rng)
        training = trainer.fit(on_epoch)
        logits, embedding = self._look(network, problem.inputs)
        state = {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}
        return Trained(
            logits,
            embedding,
            state,
            training,
            time.perf_counter() - began,
            lambda r, exact: self._gain(network, problem, r, exact),
        )

    @staticmethod
    def _gain(network: Backbone, problem: Problem, rng: np.random.Generator, exact: bool) -> np.ndarray:
        """B as the settings say, or (not exact) as cheaply as the network permits; NaN where it permits none."""
        asked = problem.settings.gain_settings()
        wanted = asked if exact else fastest_settings(network, asked)
        if wanted is None:
            return np.full(problem.graph.num_nodes, np.nan, dtype=np.float32)
        return estimate_gain(network, problem.inputs, wanted, rng)

    @staticmethod
    @torch.no_grad()
    def _look(network: Backbone, inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
        network.eval()
        h = network.hidden(inputs.x, inputs.adj)
        # laid out as a stage file lays them out, so that sums over a row have the same last bits after a resume
        logits = np.ascontiguousarray(forward(network, inputs).cpu().numpy())
        return logits, np.ascontiguousarray(h.cpu().numpy()) if isinstance(h, Tensor) else logits

    def check_state(self, state: Mapping[str, Tensor], features: int, classes: int, settings: Settings) -> None:
        """Refuse a saved state that is not one of this network."""
        with torch.device("meta"):  # shapes alone: a number edited to 10^12 must not cost memory
            expected = self.network(features, classes, settings).state_dict()
        for name in sorted(expected.keys() | state.keys()):
            if name not in state or name not in expected or state[name].shape != expected[name].shape:
                raise RunError(f"its weights do not fit its settings (see {name})")

    def predict(self, state: Mapping[str, Tensor], graph: Graph, settings: Settings) -> np.ndarray:
        """(N, C) logits of a saved network on any graph with the same features."""
        inputs = make_inputs(graph, settings.device, settings.normalise)
        network = self.network(graph.num_features, graph.num_classes, settings)
        network.load_state_dict(dict(state))
        return self._look(network.to(inputs.device), inputs)[0]
