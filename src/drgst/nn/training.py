"""The training of one network: one function behind one signature.

θ ← Adam(∇L(θ)) with weight decay, until the validation loss has not fallen for ``patience`` epochs; the weights
of the lowest validation loss are the result. Without validation nodes: until predictions settle, or for a fixed
number of epochs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from drgst.errors import TrainingError
from drgst.nn.adam import Adam
from drgst.nn.inputs import Inputs
from drgst.nn.losses import Objective
from drgst.nn.models.base import Backbone, Hidden
from drgst.nn.random import hand_out

OnEpoch = Callable[[int, float, float], None]  # epoch, training loss, validation loss (NaN without validation)


@dataclass(frozen=True)
class Schedule:
    """How one network is trained."""

    lr: float = 0.01  # Adam's learning rate
    weight_decay: float = 5e-4  # L2 on every parameter
    epochs: int = 2000  # at most so many
    patience: int = 200  # early-stopping window, in epochs
    fixed_epochs: int | None = None  # without validation: exactly so many; None: until predictions settle
    settle: float = 0.999  # … predictions have settled when this share agrees with the check before
    check_every: int = 10  # … epochs between checks
    checks: int = 5  # … for so many checks in a row


@dataclass(frozen=True)
class Watch:
    """Validation nodes and their labels; empty arrays where there is none."""

    nodes: np.ndarray
    labels: np.ndarray


@dataclass
class Curve:
    """What happened in each epoch."""

    train_loss: list[float] = field(default_factory=list)
    val_loss: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Training:
    """The outcome of one training; the network holds the weights of ``best_epoch``."""

    epochs: int
    best_epoch: int
    first_val_loss: float
    val_loss: float
    val_accuracy: float
    reason: str
    curve: Curve

    @property
    def never_learnt(self) -> bool:
        """Whether the validation loss never fell below its first value: a collapsed training."""
        return self.val_loss >= self.first_val_loss


def fit(
    network: Backbone,
    inputs: Inputs,
    objective: Objective,
    watch: Watch,
    schedule: Schedule,
    rng: np.random.Generator,
    on_epoch: OnEpoch | None = None,
) -> Training:
    """Train ``network`` on the whole graph at once and leave its best weights in it.

    Only the part of the graph that the objective's and the validation nodes can see within the network's depth
    is used; the results are those of the whole graph. Raises :class:`TrainingError` at a loss that is not
    finite, with the best weights so far restored.
    """
    with private_randomness(rng):
        run = _Run(network, inputs, objective, watch, schedule, rng)
        return run.until_done(on_epoch)


class _Run:
    """The state of one training."""

    def __init__(
        self,
        network: Backbone,
        inputs: Inputs,
        objective: Objective,
        watch: Watch,
        schedule: Schedule,
        rng: np.random.Generator,
    ) -> None:
        self.network, self.objective, self.schedule = network, objective, schedule
        self.shared = not getattr(network, "random_hidden", True)
        self.validated = watch.nodes.size > 0
        self.inputs = self._field(inputs, watch)
        place = {int(v): i for i, v in enumerate(self.inputs.nodes)} if self.inputs is not inputs else None
        self.rows = _positions(objective.nodes, place, inputs.device)
        self.val_rows = _positions(watch.nodes, place, inputs.device)
        self.val_labels = torch.from_numpy(np.array(watch.labels, dtype=np.int64)).to(inputs.device)
        self.parameters: list[Tensor] = [p for p in network.parameters() if p.requires_grad]
        self.adam = Adam(self.parameters, schedule.lr, schedule.weight_decay)
        self.state = [*self.parameters, *network.buffers()]  # a user's batch normalisation keeps statistics there
        self.best = [p.detach().clone() for p in self.state]
        hand_out(network, rng)

    def _field(self, inputs: Inputs, watch: Watch) -> Inputs:
        """The nodes that can matter: all within ``depth`` hops of those with a loss."""
        depth = getattr(self.network, "depth", None)
        if depth is None or not self.validated:
            return inputs
        seen = inputs.adj.hops(np.union1d(self.objective.nodes, watch.nodes), depth)
        return inputs if seen.size > 0.9 * inputs.nodes.size else inputs.restrict(seen)

    def until_done(self, on_epoch: OnEpoch | None) -> Training:
        curve, best_epoch, best_loss, best_accuracy = Curve(), 0, math.inf, math.nan
        limit = self.schedule.epochs
        if not self.validated and self.schedule.fixed_epochs is not None:
            limit = self.schedule.fixed_epochs
        settled = _Settled(self.schedule)
        reason = f"{limit} epochs done"
        epoch = 0
        for epoch in range(limit + 1):
            val_logits, h = self._evaluate()
            val_loss = self._val_loss(val_logits)
            if math.isnan(val_loss) and self.validated:
                self._fail(epoch, "validation loss", val_loss)
            if val_loss < best_loss or not self.validated:
                best_epoch, best_loss = epoch, val_loss
                if self.validated:
                    best_accuracy = self._val_accuracy(val_logits)
                    torch._foreach_copy_(self.best, self.state)
            curve.val_loss.append(val_loss)
            if epoch == limit:
                break
            if self.validated and epoch - best_epoch >= self.schedule.patience:
                reason = f"validation loss did not fall for {self.schedule.patience} epochs"
                break
            if not self.validated and self.schedule.fixed_epochs is None and settled(epoch, val_logits):
                reason = "predictions settled"
                break
            curve.train_loss.append(self._step(self._logits(h), epoch))
            if on_epoch is not None:
                on_epoch(epoch, curve.train_loss[-1], val_loss)
        if self.validated:
            self._restore()
        return Training(epoch, best_epoch, curve.val_loss[0], best_loss, best_accuracy, reason, curve)

    def _evaluate(self) -> tuple[Tensor, Hidden | None]:
        """Evaluation logits, and the hidden layer if the training step can share it."""
        x, adj = self.inputs.x, self.inputs.adj
        self.network.eval()
        if self.shared:
            h = self.network.hidden(x, adj)
            with torch.no_grad():
                return self.network.head(h.detach() if isinstance(h, Tensor) else h, adj), h
        with torch.no_grad():
            return forward(self.network, self.inputs), None

    def _logits(self, h: Hidden | None) -> Tensor:
        """Training logits of the same weights; only now, as a user's module may change its buffers in training."""
        self.network.train()
        if h is None:
            return forward(self.network, self.inputs)
        return self.network.head(self.network.drop(h), self.inputs.adj)

    def _val_loss(self, logits: Tensor) -> float:
        return F.cross_entropy(logits[self.val_rows], self.val_labels).item() if self.validated else math.nan

    def _val_accuracy(self, logits: Tensor) -> float:
        return (logits[self.val_rows].argmax(dim=1) == self.val_labels).float().mean().item()

    def _step(self, logits: Tensor, epoch: int) -> float:
        loss = self.objective(logits if self.rows is None else logits[self.rows], epoch)
        value = loss.item()
        if not math.isfinite(value):
            self._fail(epoch, "training loss", value)
        self.adam.clear()
        loss.backward()
        self.adam.step()
        return value

    def _fail(self, epoch: int, what: str, value: float) -> None:
        self._restore()
        raise TrainingError(f"the {what} became {value} at epoch {epoch}; try a lower learning rate")

    def _restore(self) -> None:
        with torch.no_grad():
            torch._foreach_copy_(self.state, self.best)


class _Settled:
    """Whether the predictions of all nodes have agreed with themselves for several checks."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.before: Tensor | None = None
        self.streak = 0

    def __call__(self, epoch: int, logits: Tensor) -> bool:
        if epoch % self.schedule.check_every:
            return False
        now = logits.argmax(dim=1)
        if self.before is not None:
            same = (now == self.before).float().mean().item() >= self.schedule.settle
            self.streak = self.streak + 1 if same else 0
        self.before = now
        return self.streak >= self.schedule.checks


def forward(network: Backbone, inputs: Inputs) -> Tensor:
    """(N, C) logits of a backbone or of a user's module that has only ``hidden`` and ``head``."""
    if type(network).forward is not nn.Module.forward:
        return network(inputs.x, inputs.adj)
    return network.head(network.hidden(inputs.x, inputs.adj), inputs.adj)


@contextmanager
def private_randomness(rng: np.random.Generator) -> Iterator[None]:
    """Let torch's own generator follow ``rng`` inside, and leave it as it was outside."""
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(int(rng.integers(2**63)))
        yield


def _positions(nodes: np.ndarray, place: dict[int, int] | None, device: torch.device) -> Tensor:
    index = nodes if place is None else np.fromiter((place[int(v)] for v in nodes), np.int64, nodes.size)
    return torch.from_numpy(np.array(index, dtype=np.int64)).to(device)
