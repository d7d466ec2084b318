"""Networks by name, and what a user's own module must offer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from drgst.errors import SettingError
from drgst.nn.inputs import Inputs
from drgst.nn.losses import WeightedLoss
from drgst.nn.models.base import Backbone, Hidden
from drgst.nn.models.gcn import GCN
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.random import generator
from drgst.nn.registry import BACKBONES, make_backbone
from drgst.nn.training import NetworkTrainer, Schedule, ValidationSet, forward


class Mine(nn.Module):
    """A user's module: no base class, no forward."""

    def __init__(self, features: int, classes: int, width: int = 5) -> None:
        super().__init__()
        self.first, self.last = nn.Parameter(torch.randn(features, width)), nn.Linear(width, classes)
        self.norm = nn.BatchNorm1d(width)

    def hidden(self, x: Hidden, adj: Adjacency) -> Tensor:
        return torch.relu(self.norm(adj.sym @ (x @ self.first)))

    def head(self, h: Hidden, adj: Adjacency) -> Tensor:
        return adj.sym @ self.last(h)


@pytest.mark.parametrize("name", BACKBONES)
def test_names_give_networks_with_their_own_defaults(name: str) -> None:
    network = make_backbone(name, 10, 3)
    assert type(network) is BACKBONES[name]
    assert isinstance(network, Backbone)
    assert make_backbone(name.upper(), 10, 3, hidden=16, dropout=0.25).drop.rate == 0.25


def test_classes_and_settings() -> None:
    assert make_backbone(GCN, 10, 3, hidden=7).weight1.shape == (10, 7)
    uniform = make_backbone("sgc", 10, 4, start="uniform").last
    assert uniform.weight.abs().max() <= 0.5
    assert uniform.bias.abs().max() > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"spec": "gcnn"}, "unknown backbone 'gcnn'; did you mean 'gcn'"),
        ({"spec": "gat", "hidden": 12}, "hidden size 12 can't be shared among 8 heads"),
        ({"spec": 5}, "backbone is 5"),
        ({"spec": nn.Linear(2, 2)}, "forward of backbone Linear must take"),
        ({"spec": lambda features: nn.Linear(features, 2)}, "can't be called with"),
        ({"spec": lambda features, classes: [features, classes]}, "returned a list, not a torch.nn.Module"),
        ({"spec": nn.Linear}, r"forward of backbone Linear must take \(x, edge_index\)"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        make_backbone(features=10, classes=3, **settings)


def test_users_module_is_made_trained_and_restored(ring: Inputs) -> None:
    """With batch normalisation: its statistics go back to the best epoch together with the weights."""
    network = make_backbone(Mine, 4, 3)
    assert network.first.shape == (4, 5)
    labels = np.arange(40) % 3
    validation, quick = ValidationSet(np.arange(20, 40), labels[20:]), Schedule(patience=30)
    loss = WeightedLoss(np.arange(20), labels[:20], np.ones(20))
    result = NetworkTrainer(network, ring, loss, validation, quick, generator(0)).fit()
    assert result.epochs > result.best_epoch
    with torch.no_grad():
        logits = forward(network.eval(), ring)[20:]
    val_loss = nn.functional.cross_entropy(logits, torch.from_numpy(labels[20:]))
    assert val_loss.item() == pytest.approx(result.val_loss, rel=1e-5)


def _broken(**parts: Any) -> type[nn.Module]:
    return type("Broken", (Mine,), parts)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (_broken(hidden=None), "has no method hidden"),
        (_broken(head=nn.Linear.forward), "head of backbone Broken must take"),
        (_broken(random_hidden=False), "needs a dropout module called drop"),
        (_broken(parameters=nn.Module().parameters), "no trainable parameter"),
    ],
)
def test_users_modules_that_break_the_protocol(kind: type[nn.Module], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        make_backbone(kind, 4, 3)


def test_users_subclass_of_backbone_gets_features_and_classes_alone() -> None:
    class Own(Backbone):
        def __init__(self, features: int, classes: int) -> None:
            super().__init__(0.5)
            self.weight = nn.Parameter(torch.zeros(features, classes))

    assert make_backbone(Own, 4, 3, hidden=99).weight.shape == (4, 3)
