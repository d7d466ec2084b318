"""Training in mini-batches: partitions, the count of steps, exact batches, and what is refused."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from drgst.datasets.synthetic import block_model
from drgst.errors import SettingError
from drgst.nn.inputs import Inputs, make_inputs
from drgst.nn.losses import WeightedLoss
from drgst.nn.minibatch import BatchTrainer, batch_size, partition, trainer_class
from drgst.nn.random import generator
from drgst.nn.training import NetworkTrainer, Schedule, ValidationSet, forward

Build = Callable[..., Any]
GRAPH = block_model(300, 1_500, seed=0, classes=3, homophily=0.8, features=30)
NONE = ValidationSet(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
VALIDATION = ValidationSet(np.arange(200, 250), GRAPH.labels[200:250])


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    return make_inputs(GRAPH)


def objective(count: int) -> WeightedLoss:
    return WeightedLoss(np.arange(count), GRAPH.labels[:count], np.ones(count))


def trainer(network: Any, inputs: Inputs, schedule: Schedule, count: int = 150, seed: int = 0) -> NetworkTrainer:
    kind = trainer_class(schedule, GRAPH.num_nodes)
    return kind(network, inputs, objective(count), VALIDATION, schedule, generator(seed))


@pytest.fixture
def gcn() -> Callable[[], Any]:
    from drgst.nn.random import seeded_torch
    from drgst.nn.registry import make_backbone

    def make() -> Any:
        with seeded_torch(generator(1)):
            return make_backbone("gcn", 30, 3, hidden=16)

    return make


@pytest.mark.parametrize(
    ("batch", "nodes", "size"),
    [("full", 10**7, None), ("auto", 10**5, None), ("auto", 10**6, 10**5), (100, 100, None), (100, 101, 100)],
)
def test_batch_size(batch: str | int, nodes: int, size: int | None) -> None:
    assert batch_size(batch, nodes) == size


def test_parts_are_disjoint_cover_the_graph_and_cut_few_edges() -> None:
    """Two cliques with one edge between them are two parts."""
    a = np.kron(np.eye(2), np.ones((8, 8))) - np.eye(16)
    a[7, 8] = a[8, 7] = 1
    parts = partition(sp.csr_array(a.astype(np.float32)), 2)
    assert sorted(tuple(sorted(p)) for p in parts) == [tuple(range(8)), tuple(range(8, 16))]
    many = partition(GRAPH.adjacency, 20)
    np.testing.assert_array_equal(np.sort(np.concatenate(many)), np.arange(300))
    for one, other in zip(many, partition(GRAPH.adjacency, 20), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_pass_goes_over_every_target_once_and_its_batches_have_their_own_degrees(
    inputs: Inputs, gcn: Callable[[], Any]
) -> None:
    made = trainer(gcn(), inputs, Schedule(batch=100))
    assert isinstance(made, BatchTrainer)
    batches = list(made._batches(made._drawn_parts()))
    assert len(batches) == 3
    targets = np.concatenate([b.inputs.nodes[b.rows.numpy()] for b in batches])
    np.testing.assert_array_equal(np.sort(targets), np.arange(150))
    for batch in batches:
        nodes = batch.inputs.nodes
        np.testing.assert_array_equal(batch.inputs.adj.matrix.toarray(), GRAPH.adjacency[nodes][:, nodes].toarray())
        np.testing.assert_array_equal(batch.inputs.nodes[batch.rows.numpy()], batch.objective.nodes)
        np.testing.assert_array_equal(GRAPH.labels[batch.objective.nodes], batch.objective.labels.numpy())  # type: ignore[attr-defined]


def test_epochs_and_patience_count_steps(inputs: Inputs, gcn: Callable[[], Any]) -> None:
    result = trainer(gcn(), inputs, Schedule(batch=100, epochs=31, patience=31)).fit()
    assert result.epochs == 11  # of three steps each
    assert result.val_loss < result.first_val_loss
    assert len(result.curve.train_loss) == 11


def test_a_training_is_repeatable_and_evaluates_on_the_whole_graph(inputs: Inputs, gcn: Callable[[], Any]) -> None:
    networks = [gcn(), gcn()]
    results = [trainer(network, inputs, Schedule(batch=100, epochs=30)).fit() for network in networks]
    assert results[0].curve == results[1].curve
    with torch.no_grad():
        logits = forward(networks[0].eval(), inputs)[VALIDATION.nodes]
    loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(VALIDATION.labels.copy())).item()
    assert results[0].val_loss == pytest.approx(loss, rel=1e-5)


def test_few_targets_are_one_exact_batch(inputs: Inputs, gcn: Callable[[], Any]) -> None:
    """Without dropout the steps are those of full-batch training."""
    networks = [gcn(), gcn()]
    for network, batch in zip(networks, ("full", 250), strict=True):
        network.drop.rate = 0.0
        trainer(network, inputs, Schedule(batch=batch, epochs=5), count=1).fit()
    assert trainer(gcn(), inputs, Schedule(batch=250), count=1).count == 1  # type: ignore[attr-defined]
    for one, other in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_training_without_validation_nodes(inputs: Inputs, gcn: Callable[[], Any]) -> None:
    schedule = Schedule(batch=100, fixed_epochs=9)
    assert BatchTrainer(gcn(), inputs, objective(150), NONE, schedule, generator(0)).fit().epochs == 3
    settled = replace(schedule, fixed_epochs=None, settle=0.5)
    found = BatchTrainer(gcn(), inputs, objective(150), NONE, settled, generator(0)).fit()
    assert found.reason == "predictions settled"


def test_an_objective_of_the_whole_graph_is_refused(inputs: Inputs, gcn: Callable[[], Any]) -> None:
    class Whole:
        nodes = np.arange(3)

        def __call__(self, logits: torch.Tensor, _epoch: int) -> torch.Tensor:
            return logits.sum()

    with pytest.raises(SettingError, match="needs batch=full"):
        BatchTrainer(gcn(), inputs, Whole(), VALIDATION, Schedule(batch=100), generator(0))


def test_batches_need_pymetis(gcn: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(SettingError, match=r"mini-batches .* needs pymetis, .*: pip install 'drgst\[large\]'"):
        trainer(gcn(), make_inputs(GRAPH), Schedule(batch=100)).fit()
