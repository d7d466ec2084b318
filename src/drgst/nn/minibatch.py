"""Training in mini-batches of graph partitions, for graphs too large for full-batch training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from drgst.errors import SettingError
from drgst.extras import import_extra
from drgst.nn.inputs import Inputs
from drgst.nn.losses import Objective, WeightedLoss
from drgst.nn.networks import Backbone
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.ops.sparse import Hidden
from drgst.nn.records import Schedule, ValidationSet
from drgst.nn.training import NetworkTrainer, forward
from drgst.shards import ALONE

AUTO_NODES = 100_000  # of a batch by ``batch="auto"``: a step of GCN with 64 hidden units then takes 0.3 GB
PARTS_PER_BATCH = 10  # parts per batch, drawn in every pass, so that edges between parts are used, too


@dataclass(frozen=True)
class Batch:
    """A subgraph, the rows of its nodes with a loss, and their objective."""

    inputs: Inputs
    rows: Tensor
    objective: Objective


def batch_size(batch: str | int, nodes: int) -> int | None:
    """Nodes per batch of the setting ``batch``; None for full-batch training."""
    size = {"full": nodes, "auto": AUTO_NODES}.get(batch, batch) if isinstance(batch, str) else batch
    assert isinstance(size, int)
    return None if size >= nodes else size


def trainer_class(schedule: Schedule, nodes: int) -> type[NetworkTrainer]:
    """The trainer that ``schedule.batch`` means for a graph of so many nodes."""
    return NetworkTrainer if batch_size(schedule.batch, nodes) is None else BatchTrainer


class BatchTrainer(NetworkTrainer):
    """Adam on the loss of one batch of nodes after another (Cluster-GCN: Chiang et al., KDD 2019).

    The graph is divided into parts with few edges between them (METIS). A batch is the subgraph of 10 parts drawn at
    random, with its own degrees; a pass goes over all batches and is one epoch. The numbers of epochs and of epochs
    without improvement are divided by the number of batches, so that they count steps of Adam as in full-batch
    training. If the losses depend on no more nodes than a batch has, these are the only batch, and training steps are
    exact. Evaluation is exact: it uses all edges. With several processes, each takes its own batch, and a step
    follows their mean gradient.
    """

    steps_on_all_nodes: ClassVar[bool] = False

    def __init__(
        self,
        network: Backbone,
        inputs: Inputs,
        objective: Objective,
        validation: ValidationSet,
        schedule: Schedule,
        rng: np.random.Generator,
    ) -> None:
        if not isinstance(objective, WeightedLoss):
            raise SettingError("this recipe compares nodes of the whole graph in its loss, so it needs batch=full")
        self.divisible = objective
        size = batch_size(schedule.batch, inputs.nodes.size)
        assert size is not None
        self.whole = inputs
        self.exact = self._exact_batch(network, objective, size)
        self.count = 1 if self.exact else math.ceil(inputs.nodes.size / size)
        super().__init__(network, inputs, objective, validation, _in_passes(schedule, self.count), rng)

    def _exact_batch(self, network: Backbone, objective: Objective, size: int) -> Batch | None:
        depth = network.depth
        if depth is None:
            return None
        nodes = self.whole.adj.hops(objective.nodes, depth)
        if nodes.size > size:
            return None
        rows = torch.from_numpy(np.searchsorted(nodes, objective.nodes)).to(self.whole.device)
        return Batch(self.whole.restrict(nodes), rows, objective)

    def _field_nodes(self, validation: ValidationSet) -> np.ndarray:
        """The evaluation needs the validation nodes alone."""
        return validation.nodes

    def _epoch(self, _h: Hidden | None, epoch: int) -> float:
        """One pass over all batches; the mean loss of a node.

        A step follows the mean gradient of the nodes in one batch of each process.
        """
        self.network.train()
        shards, totals = ALONE if self.exact else self.shards, np.zeros(2)
        drawn = [np.empty(0)] if self.exact else shards.first(self._drawn_parts())
        for start in range(0, len(drawn), shards.size):
            own = drawn[start + shards.rank : start + shards.rank + 1]
            batch = self.exact or next(self._batches(own), None)
            size = 0 if batch is None else batch.rows.numel()
            nodes = float(shards.sum(np.array(float(size))))
            if not nodes:
                continue
            self.adam.zero_grad()
            value = 0.0
            if batch is not None:
                loss = batch.objective(forward(self.network, batch.inputs)[batch.rows], epoch)
                value = loss.item() * size
                (loss * (size / nodes)).backward()
            step = np.array([float(shards.sum(np.array(value))), nodes])
            if not math.isfinite(step[0]):
                self._fail(epoch, "training loss", step[0])
            for parameter in self.adam.parameters if shards.size > 1 else ():
                gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                parameter.grad = torch.from_numpy(shards.sum(gradient.numpy()))
            self.adam.step()
            totals += step
        return float(totals[0] / max(totals[1], 1))

    def _drawn_parts(self) -> list[np.ndarray]:
        """The parts of each batch of a pass."""
        return np.array_split(self.rng.permutation(len(self._parts())), self.count)

    def _parts(self) -> list[np.ndarray]:
        plain = self.whole.adj.form("plain")
        count = self.count * PARTS_PER_BATCH
        found: list[np.ndarray] = plain.derived(("parts", count), lambda: partition(plain.scipy, count))
        return found

    def _batches(self, batches: Sequence[np.ndarray]) -> Iterator[Batch]:
        """The batches of these parts; those without a loss are left out."""
        parts = self._parts()
        for drawn in batches:
            nodes = np.sort(np.concatenate([parts[p] for p in drawn]))
            places = np.flatnonzero(np.isin(self.objective.nodes, nodes, assume_unique=True))
            if places.size:
                rows = np.searchsorted(nodes, self.objective.nodes[places])
                part = self.whole.restrict(nodes)
                alone = replace(part, adj=Adjacency(part.adj.matrix, part.device))  # with its own degrees
                yield Batch(alone, torch.from_numpy(rows).to(part.device), self.divisible.at(places))


def partition(adjacency: sp.csr_array, parts: int) -> list[np.ndarray]:
    """V = V_1 ∪ … ∪ V_P of about equal sizes with few edges between them, by METIS (Karypis, Kumar 1998)."""
    pymetis = import_extra("pymetis", "large", "Training in mini-batches (batch=full trains without them)")
    options = pymetis.Options()
    options.seed = 0
    graph = pymetis.CSRAdjacency(adjacency.indptr, adjacency.indices)
    part = np.asarray(pymetis.part_graph(parts, graph, options=options)[1])
    order = np.argsort(part, kind="stable")
    found = np.split(order, np.cumsum(np.bincount(part, minlength=parts))[:-1])
    return [nodes for nodes in found if nodes.size]


def _in_passes(schedule: Schedule, steps: int) -> Schedule:
    """The schedule with epochs of ``steps`` steps each."""
    fixed = schedule.fixed_epochs
    return replace(
        schedule,
        epochs=math.ceil(schedule.epochs / steps),
        patience=math.ceil(schedule.patience / steps),
        fixed_epochs=None if fixed is None else math.ceil(fixed / steps),
        check_every=math.ceil(schedule.check_every / steps),
    )
