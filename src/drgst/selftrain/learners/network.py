"""The learner of nearly every recipe: a network trained from scratch."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from drgst.errors import RunError, SettingError
from drgst.graph.core import Graph
from drgst.nn.losses import NodeLoss, Objective, WeightedLoss
from drgst.nn.random import generator, seeded_torch
from drgst.nn.records import OnEpoch, State
from drgst.selftrain.learners.base import Trained
from drgst.selftrain.problem import Problem, Targets
from drgst.selftrain.settings import Settings

if TYPE_CHECKING:
    from drgst.nn.inputs import Inputs
    from drgst.nn.networks import Backbone

TRAINING = ("normalise", "lr", "weight_decay", "epochs", "patience", "fixed_epochs", "batch", "on_collapse", "retries")
ONE_GAIN = 5_000_011  # sets the generator of the gain apart from those of the trainings, with one seed for all
GAIN = ("gain", "drop_rate", "samples", "estimator")
ROUNDING = 1e-6  # a gain below this is that of T equal samples, in 32 bits

ObjectiveMaker = Callable[[Problem, Targets, NodeLoss], Objective]


def weighted_loss(problem: Problem, targets: Targets, loss: NodeLoss) -> Objective:
    """Eq. final_loss over the targets: what nearly every recipe minimises."""
    return WeightedLoss(targets.nodes, targets.labels, targets.weights, loss, problem.inputs.device)


@dataclass(frozen=True)
class DividedLoss:
    """Eq. final_loss / β in every training, that of the teacher included, as the published program has it.

    Under Adam with L2 a larger loss means less weight decay, so the teacher is more confident.
    """

    beta: float

    def __call__(self, problem: Problem, targets: Targets, loss: NodeLoss) -> Objective:
        return weighted_loss(problem, replace(targets, weights=targets.weights / self.beta), loss)


@dataclass(frozen=True)
class DividedTeacherLoss:
    """Eq. final_loss / β where there are no pseudo-labels, so in the training of the teacher; else Eq. final_loss."""

    beta: float

    def __call__(self, problem: Problem, targets: Targets, loss: NodeLoss) -> Objective:
        teacher = targets.nodes.size == targets.true
        return (DividedLoss(self.beta) if teacher else weighted_loss)(problem, targets, loss)


@dataclass(frozen=True)
class Network:
    """Trains a backbone from scratch with Adam and early stopping (:class:`drgst.nn.training.NetworkTrainer`)."""

    backbone: Any = None  # as :func:`~drgst.nn.registry.make_backbone` takes it; None: settings.backbone
    objective: ObjectiveMaker = weighted_loss
    one_seed: bool = False  # whether all trainings of a run, and all samples of its gain, have the same seed
    column_degrees: bool = False  # as in drgst.uncertainty.gain.GainSettings

    @property
    def reads(self) -> tuple[str, ...]:
        """The settings that it reads; a user's own backbone takes width and dropout if it has PyG's names for them."""
        if self.backbone is None:
            return ("backbone", "hidden", "dropout", "start", *TRAINING, *GAIN)
        from drgst.nn.registry import settings_of  # imports torch, which is slow

        return (*settings_of(self.backbone), *TRAINING, *GAIN)

    def network(self, features: int, classes: int, settings: Settings) -> Backbone:
        """A fresh network from F features to C classes."""
        from drgst.nn.registry import make_backbone

        spec = settings.backbone if self.backbone is None else self.backbone
        return make_backbone(
            spec, features, classes, hidden=settings.hidden, dropout=settings.dropout, start=settings.start
        )

    def train(
        self, problem: Problem, targets: Targets, loss: NodeLoss, seed: tuple[int, ...], on_epoch: OnEpoch | None
    ) -> Trained:
        """From fresh weights to a network fitted to ``targets``; ``seed`` is (seed, stage, attempt, training)."""
        from drgst.nn.inputs import NOTES
        from drgst.nn.minibatch import trainer_class
        from drgst.nn.pyg_module import PyGModule
        from drgst.nn.training import state_arrays

        began = time.perf_counter()
        rng = generator(*(seed[0], 0, seed[2], 0) if self.one_seed else seed)
        with seeded_torch(rng):
            graph = problem.graph
            network = self.network(problem.inputs.x.shape[1], graph.num_classes, problem.settings)
            network = network.to(problem.inputs.device)
            if isinstance(network, PyGModule):
                network.prepare(problem.inputs.x, problem.inputs.adj)
        objective = self.objective(problem, targets, loss)
        schedule = problem.settings.schedule()
        kind = trainer_class(schedule, graph.num_nodes)
        trainer = kind(network, problem.inputs, objective, problem.watch, schedule, rng)
        trainer.shards = problem.shards
        training = trainer.fit(on_epoch)
        logits, embedding = self._outputs(network, problem.inputs)
        state = state_arrays(network)
        if problem.settings.normalise == "auto":
            state |= problem.features.state
        seconds = time.perf_counter() - began
        note = NOTES[problem.features.kind] if problem.settings.normalise == "auto" else ""
        gain = partial(self._gain, network, problem)
        return Trained(logits, embedding, state, training, seconds, gain, note=note)

    def _gain(self, network: Backbone, problem: Problem, rng: np.random.Generator, exact: bool) -> np.ndarray:
        """B as the settings say, or (not exact) as cheaply as the network permits; NaN where it permits none."""
        from drgst.nn.pyg_module import PyGModule
        from drgst.uncertainty.gain import estimate_gain, fastest_settings

        settings = replace(problem.settings.gain_settings(), column_degrees=self.column_degrees)
        rng = generator(problem.seed, ONE_GAIN) if self.one_seed else rng
        wanted = settings if exact else fastest_settings(network, settings)
        if wanted is None:
            return np.full(problem.graph.num_nodes, np.nan, dtype=np.float32)
        gain = estimate_gain(network, problem.inputs, wanted, rng)
        noise = wanted.kind != "dropout" or wanted.rate == 0 or gain.max() > ROUNDING
        if exact and isinstance(network, PyGModule) and not noise:
            raise SettingError(
                f"backbone {network.name} has no dropout, so its information gain by dropout is 0 everywhere; "
                "give it a dropout layer, or take gain=dropedge"
            )
        return gain

    def undivided(self, problem: Problem) -> str:
        """Several processes can share mini-batches only."""
        from drgst.nn.minibatch import batch_size

        nodes = problem.graph.num_nodes
        if batch_size(problem.settings.batch, nodes) is not None:
            return ""
        return f"a batch has all {nodes:,} nodes; give a smaller batch, as in --set batch=10000"

    @staticmethod
    def _outputs(network: Backbone, inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
        import torch

        from drgst.nn.training import forward

        network.eval()
        with torch.no_grad():
            h = network.hidden(inputs.x, inputs.adj)
            # contiguous, as they are read from a stage file: row sums are then bit-identical after a resume
            logits = np.ascontiguousarray(forward(network, inputs).cpu().numpy())
        return logits, np.ascontiguousarray(h.cpu().numpy()) if isinstance(h, torch.Tensor) else logits

    @staticmethod
    def columns(graph: Graph, settings: Settings) -> int:
        """The number of columns that the network is given of ``graph``."""
        from drgst.nn.inputs import network_columns

        return network_columns(graph, settings.normalise)

    def check_state(self, state: State, features: int, classes: int, settings: Settings) -> None:
        """Refuse a saved state that is not one of this network."""
        from torch import device

        from drgst.nn.registry import is_ours

        ours = is_ours(settings.backbone if self.backbone is None else self.backbone)
        with device("meta" if ours else "cpu"):  # shapes alone: an edited number must not cost memory
            expected = self.network(features, classes, settings).state_dict()
        state = _weights(state)
        for name in sorted(expected.keys() | state.keys()):
            both = [tensors[name] for tensors in (state, expected) if name in tensors]
            kinds = {(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")) for tensor in both}
            if len(both) < 2 or len(kinds) > 1:
                raise RunError(f"its weights do not fit its settings (see {name})")

    def predict(self, state: State, graph: Graph, settings: Settings) -> np.ndarray:
        """(N, C) logits of a saved network on any graph with the same features."""
        from drgst.nn.inputs import InputFeatures, make_inputs
        from drgst.nn.pyg_module import PyGModule

        fitted = InputFeatures.of_state(state, settings.normalise)
        inputs = make_inputs(graph, settings.device, fitted=fitted)
        network = self.restored(state, inputs.x.shape[1], graph.num_classes, settings).to(inputs.device)
        if isinstance(network, PyGModule):
            network.prepare(inputs.x, inputs.adj)
        return self._outputs(network, inputs)[0]

    def restored(self, state: State, features: int, classes: int, settings: Settings) -> Backbone:
        """The network of a saved state."""
        from drgst.nn.training import load_arrays

        with seeded_torch(generator(0)):
            network = self.network(features, classes, settings)
        load_arrays(network, _weights(state))
        return network


def _weights(state: State) -> dict[str, np.ndarray]:
    """The arrays of the network itself, without those of its features."""
    from drgst.nn.inputs import PREFIX

    return {name: value for name, value in state.items() if not name.startswith(PREFIX)}
