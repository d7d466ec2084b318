"""The training of one network.

θ ← Adam(∇L(θ)) with weight decay, until the validation loss has not fallen for ``patience`` epochs; the result has the
weights of the lowest validation loss. Without validation nodes the training ends when the predictions are stable, or
after a fixed number of epochs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from drgst.errors import TrainingError
from drgst.nn.inputs import Inputs
from drgst.nn.losses import Objective
from drgst.nn.networks import Backbone
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.layers import set_generator
from drgst.nn.ops.sparse import Hidden, SparseMatrix
from drgst.nn.random import seeded_torch
from drgst.nn.records import Curve, OnEpoch, Schedule, Training, ValidationSet
from drgst.shards import ALONE, Shards


class NetworkTrainer:
    """Full-batch training of ``network`` to minimise ``objective``.

    Only the nodes that the losses depend on, given the depth of the network, are used; the result is that of the whole
    graph.
    """

    steps_on_all_nodes: ClassVar[bool] = True  # so that a step can use the hidden layer of the evaluation

    def __init__(
        self,
        network: Backbone,
        inputs: Inputs,
        objective: Objective,
        validation: ValidationSet,
        schedule: Schedule,
        rng: np.random.Generator,
    ) -> None:
        self.network, self.objective, self.schedule, self.rng = network, objective, schedule, rng
        self.shards: Shards = ALONE  # the processes that share the training
        self.shares_hidden = self.steps_on_all_nodes and not network.random_hidden
        self.validated = validation.nodes.size > 0
        self.inputs = self._receptive_field(inputs, validation)
        self.rows = self._positions(objective.nodes)
        self.val_rows = self._positions(validation.nodes)
        self.needed = self._needed(evaluated=True)
        self.needed_between = self.needed if self.validated else self._needed(evaluated=False)
        self.val_labels = torch.from_numpy(np.array(validation.labels, dtype=np.int64)).to(inputs.device)
        parameters: list[Tensor] = [p for p in network.parameters() if p.requires_grad]
        self.adam = Adam(parameters, schedule.lr, schedule.weight_decay)
        self.state = [*parameters, *network.buffers()]  # buffers: statistics of a user's batch normalisation
        self.best = [p.detach().clone() for p in self.state]

    def fit(self, on_epoch: OnEpoch | None = None) -> Training:
        """Train and leave the best weights in the network.

        Raises :class:`TrainingError` if a loss is not finite, after the best weights so far are restored.
        """
        with seeded_torch(self.rng):
            set_generator(self.network, self.rng)
            return self._fit(on_epoch)

    def _receptive_field(self, inputs: Inputs, validation: ValidationSet) -> Inputs:
        """The nodes within ``depth`` hops of those with a loss; all nodes if that leaves out few."""
        depth = self.network.depth
        if depth is None or not self.validated:
            return inputs
        field_ = inputs.adj.hops(self._field_nodes(validation), depth)
        return inputs if field_.size > 0.9 * inputs.nodes.size else inputs.restrict(field_)

    def _field_nodes(self, validation: ValidationSet) -> np.ndarray:
        return np.union1d(self.objective.nodes, validation.nodes)

    def _needed(self, evaluated: bool) -> _Needed:
        """The inputs of each layer without the rows that no loss, and no evaluation, depends on."""
        x, adj = self.inputs.x, self.inputs.adj
        if not (self.shares_hidden and self.network.one_hop_layers):
            return _Needed(x, adj, adj, adj)
        size, rows = adj.num_nodes, self.rows.cpu().numpy()
        loss, one_hop, two_hops = (_mask(size, adj.hops(rows, hops)) for hops in range(3))
        everywhere, nowhere = np.ones(size, dtype=bool), np.zeros(size, dtype=bool)
        val = nowhere if not evaluated else _mask(size, self.val_rows.cpu().numpy()) if self.validated else everywhere
        hidden = _mask(size, adj.hops(np.flatnonzero(loss | val), 1))
        return _Needed(
            x.pruned(everywhere if evaluated else two_hops, two_hops) if isinstance(x, SparseMatrix) else x,
            adj.pruned(hidden, one_hop),
            adj.pruned(loss, loss),
            adj.pruned(val, nowhere),
        )

    def _positions(self, nodes: np.ndarray) -> Tensor:
        """The rows of ``nodes`` in the inputs; those outside get a row of another node."""
        return torch.from_numpy(np.searchsorted(self.inputs.nodes, nodes)).to(self.inputs.device)

    def _fit(self, on_epoch: OnEpoch | None) -> Training:
        curve, best_epoch, best_loss, best_logits = Curve(), 0, math.inf, None
        limit = self.schedule.epochs
        if not self.validated and self.schedule.fixed_epochs is not None:
            limit = self.schedule.fixed_epochs
        is_stable = _StablePredictions(self.schedule)
        reason = f"{limit} epochs done"
        epoch = 0
        for epoch in range(limit + 1):
            val_logits, h = self._evaluate(epoch)
            val_loss = self._val_loss(val_logits)
            if math.isnan(val_loss) and self.validated:
                self._fail(epoch, "validation loss", val_loss)
            if val_loss < best_loss or not self.validated:
                best_epoch, best_loss = epoch, val_loss
                if self.validated:
                    best_logits = val_logits
                    torch._foreach_copy_(self.best, self.state)
            curve.val_loss.append(val_loss)
            if epoch == limit:
                break
            if self.validated and epoch - best_epoch >= self.schedule.patience:
                reason = f"validation loss did not fall for {self.schedule.patience} epochs"
                break
            if not self.validated and is_stable(val_logits):
                reason = "predictions settled"
                break
            curve.train_loss.append(self._epoch(h, epoch))
            if on_epoch is not None:
                on_epoch(epoch, curve.train_loss[-1], val_loss)
        if self.validated:
            self._restore()
        accuracy = math.nan
        if best_logits is not None:
            accuracy = (best_logits[self.val_rows].argmax(dim=1) == self.val_labels).float().mean().item()
        return Training(epoch, best_epoch, curve.val_loss[0], best_loss, accuracy, reason, curve)

    def _evaluate(self, epoch: int) -> tuple[Tensor | None, Hidden | None]:
        """Evaluation logits if this epoch needs any, and the hidden layer if the training step can use it."""
        self.network.eval()
        checked = self.validated or (self.schedule.fixed_epochs is None and epoch % self.schedule.check_every == 0)
        if self.shares_hidden:
            needed = self.needed if checked else self.needed_between
            h = self.network.hidden(needed.x, needed.hidden)
            with torch.no_grad():
                bare = h.detach() if isinstance(h, Tensor) else h
                return self.network.head(bare, needed.val) if checked else None, h
        with torch.no_grad():
            return forward(self.network, self.inputs) if checked else None, None

    def _logits(self, h: Hidden | None) -> Tensor:
        """Training logits of the same weights, after the evaluation: training mode may change a module's buffers."""
        self.network.train()
        if h is None:
            return forward(self.network, self.inputs)
        return self.network.head(self.network.drop(h), self.needed.loss)

    def _val_loss(self, logits: Tensor | None) -> float:
        if logits is None or not self.validated:
            return math.nan
        return F.cross_entropy(logits[self.val_rows], self.val_labels).item()

    def _epoch(self, h: Hidden | None, epoch: int) -> float:
        """One step on the loss of all nodes; h is the hidden layer that the evaluation computed."""
        loss = self.objective(self._logits(h)[self.rows], epoch)
        value = loss.item()
        if not math.isfinite(value):
            self._fail(epoch, "training loss", value)
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return value

    def _fail(self, epoch: int, what: str, value: float) -> None:
        self._restore()
        raise TrainingError(f"the {what} became {value} at epoch {epoch}; try a lower learning rate")

    def _restore(self) -> None:
        with torch.no_grad():
            torch._foreach_copy_(self.state, self.best)


@dataclass(frozen=True)
class _Needed:
    """X, and A of each product: of the hidden layer, of the training logits and of the evaluation logits."""

    x: Hidden
    hidden: Adjacency
    loss: Adjacency
    val: Adjacency


def _mask(size: int, nodes: np.ndarray) -> np.ndarray:
    found = np.zeros(size, dtype=bool)
    found[nodes] = True
    return found


class _StablePredictions:
    """Whether the predictions of all nodes were stable for several checks."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.before: Tensor | None = None
        self.streak = 0

    def __call__(self, logits: Tensor | None) -> bool:
        if logits is None:
            return False
        now = logits.argmax(dim=1)
        if self.before is not None:
            same = (now == self.before).float().mean().item() >= self.schedule.settle
            self.streak = self.streak + 1 if same else 0
        self.before = now
        return self.streak >= self.schedule.checks


def forward(network: Backbone, inputs: Inputs) -> Tensor:
    """(N, C) logits of a backbone."""
    return network(inputs.x, inputs.adj)


def state_arrays(network: nn.Module) -> dict[str, np.ndarray]:
    """A copy of the weights and buffers of ``network`` by name; bfloat16, which NumPy lacks, as float32."""
    state = {name: value.detach().cpu() for name, value in network.state_dict().items()}
    return {name: (t.float() if t.dtype == torch.bfloat16 else t).numpy().copy() for name, t in state.items()}


def load_arrays(network: nn.Module, arrays: Mapping[str, np.ndarray]) -> None:
    """Set the weights and buffers of ``network`` to those of :func:`state_arrays`."""
    network.load_state_dict({name: torch.tensor(array) for name, array in arrays.items()})


class Adam:
    """g = ∇L + λθ;  m ← β₁m + (1-β₁)g;  v ← β₂v + (1-β₂)g²;  θ ← θ - lr · m̂ / (√v̂ + ε)  (Kingma, Ba 2015).

    m̂ = m/(1-β₁ᵗ), v̂ = v/(1-β₂ᵗ), β₁ = 0.9, β₂ = 0.999, ε = 1e-8. Torch's fused kernel, bit-identical to
    ``torch.optim.Adam(fused=True)``, whose first use would import torch's compiler and take 1.5 s.
    """

    def __init__(self, parameters: Sequence[Tensor], lr: float, weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.lr, self.weight_decay = lr, weight_decay
        self.mean = [torch.zeros_like(p) for p in self.parameters]
        self.square = [torch.zeros_like(p) for p in self.parameters]
        self.steps = [torch.zeros((), dtype=torch.float32, device=p.device) for p in self.parameters]

    def zero_grad(self) -> None:
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One update of each parameter that has a gradient."""
        each = zip(self.parameters, self.mean, self.square, self.steps, strict=True)
        found = [(p, p.grad, m, v, step) for p, m, v, step in each if p.grad is not None]
        if not found:
            return
        parameters, grads, mean, square, steps = map(list, zip(*found, strict=True))
        torch._foreach_add_(steps, 1)
        settings: Any = {"lr": self.lr, "weight_decay": self.weight_decay, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
        torch._fused_adam_(parameters, grads, mean, square, [], steps, **settings, amsgrad=False, maximize=False)
