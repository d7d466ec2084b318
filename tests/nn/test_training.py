"""The training of one network, and our Adam against torch's."""

import functools
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from drgst.errors import TrainingError
from drgst.nn.inputs import Inputs
from drgst.nn.losses import WeightedLoss
from drgst.nn.random import generator
from drgst.nn.training import Adam, NetworkTrainer, Schedule, Training, ValidationSet, forward

LABELS = np.arange(40) % 3
NO_VALIDATION = ValidationSet(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
Build = Callable[..., Any]


def objective(nodes: np.ndarray) -> WeightedLoss:
    return WeightedLoss(nodes, LABELS[nodes], np.ones(nodes.size))


def validating(nodes: np.ndarray) -> ValidationSet:
    return ValidationSet(nodes, LABELS[nodes])


def train(network: Any, inputs: Inputs, schedule: Schedule, seed: int = 0, **more: Any) -> Training:
    validation = more.get("validation", validating(np.arange(15, 30)))
    loss = more.get("loss", objective(np.arange(15)))
    trainer = NetworkTrainer(network, inputs, loss, validation, schedule, generator(seed))
    return trainer.fit(more.get("on_epoch"))


def loss_at(network: Any, inputs: Inputs, nodes: np.ndarray) -> float:
    with torch.no_grad():
        logits = forward(network.eval(), inputs)[nodes]
    return nn.functional.cross_entropy(logits, torch.from_numpy(LABELS[nodes])).item()


@pytest.mark.parametrize("name", ["gcn", "gat", "appnp"])
def test_early_stopping_restores_the_best_weights(name: str, ring: Inputs, build: Build) -> None:
    network = build(name)
    result = train(network, ring, Schedule(lr=0.1, patience=20))
    losses = result.curve.val_loss
    assert result.best_epoch == int(np.argmin(losses))
    assert result.epochs == result.best_epoch + 20
    assert "did not fall for 20 epochs" in result.reason
    assert result.val_loss == min(losses) < losses[-1]
    assert len(result.curve.train_loss) == result.epochs
    assert loss_at(network, ring, np.arange(15, 30)) == pytest.approx(result.val_loss, rel=1e-5)
    with torch.no_grad():
        hits = forward(network.eval(), ring)[15:30].argmax(dim=1).numpy() == LABELS[15:30]
    assert result.val_accuracy == pytest.approx(hits.mean())


def test_the_epoch_limit_counts_steps(ring: Inputs, build: Build) -> None:
    calls: list[tuple[int, float, float]] = []
    result = train(build("gcn"), ring, Schedule(epochs=7), on_epoch=lambda *row: calls.append(row))
    assert result.epochs == len(calls) == 7
    assert [epoch for epoch, _, _ in calls] == list(range(7))
    assert [row[2] for row in calls] == result.curve.val_loss[:7]
    assert result.reason == "7 epochs done"
    assert len(result.curve.val_loss) == 8  # the weights of the last step are looked at too


@pytest.mark.parametrize("name", ["gcn", "gat"])
def test_the_same_seed_is_bit_identical(name: str, ring: Inputs, build: Build) -> None:
    weights = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed * 77 + len(weights))  # the global generator must not matter
        network = build(name)
        train(network, ring, Schedule(epochs=30), seed=seed)
        weights.append(torch.cat([p.detach().ravel() for p in network.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


class Exploding:
    """A loss that is not a number at epoch 4."""

    nodes = np.arange(5)

    def __call__(self, logits: Tensor, epoch: int) -> Tensor:
        return logits.square().mean() * (float("nan") if epoch == 4 else 1.0)


def test_a_loss_that_is_not_a_number_is_named_with_its_epoch(ring: Inputs, build: Build) -> None:
    network = build("gcn")
    nodes = np.arange(15, 30)
    calls: list[tuple[int, float, float]] = []
    with pytest.raises(TrainingError, match="training loss became nan at epoch 4"):
        train(network, ring, Schedule(), loss=Exploding(), on_epoch=lambda *row: calls.append(row))
    assert len(calls) == 4
    assert loss_at(network, ring, nodes) <= min(row[2] for row in calls) + 1e-6  # the best weights so far are back


def test_a_validation_loss_that_is_not_a_number(ring: Inputs, build: Build) -> None:
    network = build("gcn")
    with torch.no_grad():
        network.weight2[0, 0] = torch.nan
    with pytest.raises(TrainingError, match="validation loss became nan at epoch 0"):
        train(network, ring, Schedule())


def test_fixed_epochs_without_validation(ring: Inputs, build: Build) -> None:
    result = train(build("gcn"), ring, Schedule(fixed_epochs=12), validation=NO_VALIDATION)
    assert (result.epochs, result.best_epoch, result.reason) == (12, 12, "12 epochs done")
    assert np.isnan(result.val_loss)
    assert np.isnan(result.val_accuracy)
    assert not result.collapsed


@pytest.mark.parametrize("name", ["gcn", "gat"])
def test_without_validation_only_checks_are_evaluated(
    name: str, ring: Inputs, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = build(name)
    evaluated: list[bool] = []
    head = type(network).head
    monkeypatch.setattr(type(network), "head", lambda self, *a: evaluated.append(not self.training) or head(self, *a))
    train(network, ring, Schedule(epochs=25, check_every=10), validation=NO_VALIDATION)
    assert sum(evaluated) == 3  # epochs 0, 10 and 20
    assert len(evaluated) == 25 + 3


def test_without_validation_until_predictions_settle(ring: Inputs, build: Build) -> None:
    schedule = Schedule(epochs=3000, check_every=5, checks=4, settle=1.0)
    result = train(build("gcn", dropout=0.0), ring, schedule, validation=NO_VALIDATION)
    assert result.reason == "predictions settled"
    assert result.epochs % 5 == 0
    assert 20 <= result.epochs < 3000


def test_a_network_that_never_learns_says_so(ring: Inputs, build: Build) -> None:
    assert train(build("gcn"), ring, Schedule(lr=0.0, patience=5)).collapsed
    assert not train(build("gcn"), ring, Schedule(lr=0.01, epochs=30), validation=validating(np.arange(15))).collapsed


@pytest.mark.parametrize("name", ["gcn", "gat"])
def test_training_on_the_field_of_view_equals_the_whole_graph(name: str, ring: Inputs, build: Build) -> None:
    """Without dropout, whose draws depend on the number of nodes."""
    near, schedule = np.arange(0, 4), Schedule(epochs=40, patience=40)
    results = []
    for depth in (2, None):
        network = build(name, dropout=0.0)
        network.depth = depth
        train(network, ring, schedule, loss=objective(near), validation=validating(np.arange(4, 8)))
        with torch.no_grad():
            results.append(network.eval()(ring.x, ring.adj))
    assert ring.adj.hops(np.arange(8), 2).size < 20
    torch.testing.assert_close(results[0], results[1], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("validation", [validating(np.arange(4, 8)), NO_VALIDATION])
def test_rows_that_no_loss_depends_on_change_no_bit(
    ring: Inputs, build: Build, monkeypatch: pytest.MonkeyPatch, validation: ValidationSet
) -> None:
    results = []
    for pruned in (True, False):
        network = build("gcn")
        monkeypatch.setattr(type(network), "one_hop_layers", pruned)
        schedule = Schedule(epochs=45, patience=45)
        found = train(network, ring, schedule, loss=objective(np.arange(4)), validation=validation)
        results.append((found.curve, torch.cat([p.detach().ravel() for p in network.parameters()])))
    np.testing.assert_array_equal(results[0][0].train_loss, results[1][0].train_loss)
    np.testing.assert_array_equal(results[0][0].val_loss, results[1][0].val_loss)
    assert torch.equal(results[0][1], results[1][1])


class Constant:
    """A loss without gradient: the weights and the validation loss stay as they are."""

    nodes = np.arange(5)

    def __call__(self, logits: Tensor, epoch: int) -> Tensor:
        return 0 * logits.sum()


def test_an_equal_validation_loss_is_no_improvement(ring: Inputs, build: Build) -> None:
    result = train(build("gcn"), ring, Schedule(weight_decay=0.0, patience=6, epochs=50), loss=Constant())
    assert len(set(result.curve.val_loss)) == 1
    assert (result.best_epoch, result.epochs) == (0, 6)


def test_adam_is_bit_identical_to_torchs() -> None:
    results = []
    for kind in (Adam, functools.partial(torch.optim.Adam, fused=True)):
        torch.manual_seed(0)
        weights = [nn.Parameter(torch.randn(5, 3)), nn.Parameter(torch.randn(3))]
        x, y = torch.randn(20, 5), torch.randint(3, (20,))
        adam = kind(weights, lr=0.05, weight_decay=0.01)
        for _ in range(30):
            for w in weights:
                w.grad = None
            nn.functional.cross_entropy(x @ weights[0] + weights[1], y).backward()
            adam.step()
        results.append(torch.cat([w.detach().ravel() for w in weights]))
    assert torch.equal(*results)


def test_adam_leaves_a_parameter_without_gradient() -> None:
    used, unused = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    adam = Adam([used, unused], lr=0.1, weight_decay=0.5)
    used.sum().backward()
    adam.step()
    assert torch.equal(unused, torch.ones(2))
    assert not torch.equal(used, torch.ones(2))


def test_adam_leaves_the_compiler_out() -> None:
    """What this class is for: torch.optim would import torch._dynamo."""
    code = (
        "import sys, torch\nfrom drgst.nn.training import Adam\np = torch.nn.Parameter(torch.ones(1))\n"
        "p.sum().backward()\nAdam([p], 0.1, 0.0).step()\nassert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
