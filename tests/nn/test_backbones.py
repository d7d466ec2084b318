"""Networks by name, and a user's own module as a backbone: a PyG module, or a subclass of Backbone."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GCNConv
from torch_geometric.nn.models import GAT, GCN, GraphSAGE

from drgst.errors import SettingError
from drgst.nn.inputs import Inputs
from drgst.nn.losses import WeightedLoss
from drgst.nn.networks import GCN as OurGCN
from drgst.nn.networks import Backbone, Hidden
from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.pyg_module import PyGModule, fresh_copy
from drgst.nn.random import generator, seeded_torch
from drgst.nn.registry import BACKBONES, import_path, make_backbone
from drgst.nn.training import NetworkTrainer, Schedule, ValidationSet, forward
from drgst.uncertainty.gain import GainSettings, estimate_gain


class Mine(Backbone):
    """A user's subclass, with statistics of its batches."""

    random_hidden = True

    def __init__(self, features: int, classes: int, width: int = 5) -> None:
        super().__init__(0.0)
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
    assert make_backbone(OurGCN, 10, 3, hidden=7).weight1.shape == (10, 7)
    uniform = make_backbone("appnp", 10, 4, hidden=4, start="uniform").last
    assert uniform.weight.abs().max() <= 0.5
    assert uniform.bias.abs().max() > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"spec": "gcnn"}, "unknown backbone 'gcnn'; did you mean 'gcn'"),
        ({"spec": "gat", "hidden": 12}, "hidden size 12 can't be shared among 8 heads"),
        ({"spec": 5}, "backbone is 5"),
        ({"spec": lambda features: nn.Linear(features, 2)}, "can't be called with"),
        ({"spec": lambda features, classes: [features, classes]}, "returned a list, not a torch.nn.Module"),
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


def test_a_module_without_parameters_is_refused() -> None:
    with pytest.raises(SettingError, match="has no trainable parameter"):
        make_backbone(lambda _features, _classes: nn.Dropout(), 4, 3)


def test_users_subclass_of_backbone_gets_features_and_classes_alone() -> None:
    class Own(Backbone):
        def __init__(self, features: int, classes: int) -> None:
            super().__init__(0.5)
            self.weight = nn.Parameter(torch.zeros(features, classes))

    assert make_backbone(Own, 4, 3, hidden=99).weight.shape == (4, 3)


class Net(nn.Module):
    """Two graph convolutions as in PyG's introduction."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, cached: bool = False) -> None:
        super().__init__()
        self.conv1 = GCNConv(in_channels, hidden_channels, cached=cached)
        self.conv2 = GCNConv(hidden_channels, out_channels, cached=cached)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        x = F.dropout(self.conv1(x, edge_index, edge_weight).relu(), 0.5, training=self.training)
        return self.conv2(x, edge_index, edge_weight)


class Plain(nn.Module):
    """No edge weight, no dropout, features dropped before the first layer would fail on sparse ones."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.conv = GCNConv(features, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv(x[:, :], edge_index)


def made(spec: Any, inputs: Inputs, **settings: Any) -> PyGModule:
    with seeded_torch(generator(0)):
        network = make_backbone(spec, inputs.x.shape[1], 3, **settings)
        assert isinstance(network, PyGModule)
        network.prepare(inputs.x, inputs.adj)
    return network.eval()


def test_the_module_computes_what_our_gcn_computes(inputs: Inputs, build: Any) -> None:
    """The same weights give the same logits on a weighted graph: edge_index and edge_weight are A."""
    ours, theirs = build("gcn"), made(Net, inputs, hidden=8)
    state = {
        "conv1.lin.weight": ours.weight1.T,
        "conv1.bias": ours.bias1,
        "conv2.lin.weight": ours.weight2.T,
        "conv2.bias": ours.bias2,
    }
    theirs.module.load_state_dict(state)
    with torch.no_grad():
        torch.testing.assert_close(theirs(inputs.x, inputs.adj), ours(inputs.x, inputs.adj))
        torch.testing.assert_close(theirs.hidden(inputs.x, inputs.adj), ours.hidden(inputs.x, inputs.adj))
        dropped = inputs.adj.drop(0.5, generator(3))
        torch.testing.assert_close(theirs(inputs.x, dropped), ours(inputs.x, dropped))


def test_sparse_features_are_used_where_the_module_can(inputs: Inputs) -> None:
    assert made(GCN, inputs, hidden=8).takes_sparse
    assert made(GAT, inputs, hidden=8).takes_sparse
    assert not made(GraphSAGE, inputs, hidden=8).takes_sparse
    plain = made(Plain, inputs)
    dense = torch.from_numpy(inputs.x.scipy.toarray())
    with torch.no_grad():
        torch.testing.assert_close(plain(inputs.x, inputs.adj), plain(dense, inputs.adj))


def test_settings_that_a_class_in_pygs_style_takes(inputs: Inputs) -> None:
    network = made(GCN, inputs, hidden=5, dropout=0.25).module
    assert (network.hidden_channels, network.num_layers, network.dropout.p) == (5, 2, 0.25)


@pytest.mark.parametrize("kind", ["dropout", "dropedge", "both"])
def test_information_gain_by_the_modules_own_noise(inputs: Inputs, kind: Any) -> None:
    network = made(lambda f, c: Net(f, 8, c, cached=True), inputs)
    settings = GainSettings(kind, 0.5, 50)
    gain = estimate_gain(network, inputs, settings, generator(1))
    assert gain.shape == (6,)
    assert (gain[:5] > 0).all()
    np.testing.assert_array_equal(gain, estimate_gain(network, inputs, settings, generator(1)))
    assert not network.module.training
    if kind == "dropedge":
        assert gain[5] == pytest.approx(0, abs=1e-6)  # it has no edge to drop
    with pytest.raises(SettingError, match=r"Net has no closed form .* of our own networks alone"):
        estimate_gain(network, inputs, GainSettings(kind, 0.5, estimator="closed"), generator(1))


def test_batch_statistics_stay_fixed_while_the_gain_is_sampled(inputs: Inputs) -> None:
    network = made(lambda f, c: GCN(f, 8, 2, c, dropout=0.5, norm="batch_norm"), inputs)
    before = {name: value.clone() for name, value in network.named_buffers()}
    assert before
    estimate_gain(network, inputs, GainSettings("dropout", 0.5, 5), generator(1))
    for name, value in network.named_buffers():
        torch.testing.assert_close(value, before[name])


def test_an_instance_gets_new_weights_in_each_copy() -> None:
    module = Net(4, 8, 3)
    torch.manual_seed(1)
    first, second = fresh_copy(module), fresh_copy(module)
    weights = [m.conv1.lin.weight for m in (module, first, second)]
    assert len({w.detach().numpy().tobytes() for w in weights}) == 3
    module.extra = nn.Parameter(torch.ones(1))
    with pytest.raises(SettingError, match=r"part Net has no reset_parameters\(\)"):
        fresh_copy(module)


def test_lazy_layers_are_initialised(inputs: Inputs) -> None:
    network = made(lambda _, c: Net(-1, 8, c), inputs)
    assert network.module.conv1.lin.weight.shape == (8, 4)


class Narrow(Plain):
    """Logits of two classes, whatever is asked for."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__(features, 2)


class ThreeArguments(Plain):
    def __init__(self, features: int, classes: int, depth: int) -> None:
        super().__init__(features, classes * depth)


class Failing(Plain):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        raise KeyError("weights")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (Narrow, r"backbone Narrow returned \(6, 2\) \(allowed: logits of shape \(6, 3\)\)"),
        (Failing, r"backbone Failing failed on \(x, edge_index\): KeyError: 'weights'"),
        ("torch.nn:Nothing", "can't be imported"),
        ("os:system", "is not a class derived from torch.nn.Module"),
        ("torch.nn:Linear", r"forward of backbone Linear must take \(x, edge_index\)"),
        (ThreeArguments, r"can't be called with \(features, classes\): missing a required argument"),
    ],
)
def test_what_a_backbone_must_be(inputs: Inputs, spec: Any, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        made(spec, inputs)


def test_import_paths_of_classes_that_others_can_import() -> None:
    assert import_path(GCN) == "torch_geometric.nn.models.basic_gnn:GCN"

    class Local(Net):
        pass

    assert import_path(Local) is None
    assert import_path(lambda f, c: Net(f, 8, c)) is None
    assert import_path(Net(4, 8, 3)) is None
