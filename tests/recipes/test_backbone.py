"""A user's PyG module in the recipes: trained, saved, loaded and used on another graph."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GCNConv
from torch_geometric.nn.models import GAT, GCN, GIN, PNA, GraphSAGE

import drgst
from drgst.errors import RunError, SettingError
from drgst.graph.core import Graph
from drgst.recipes import find_recipe, recipe_names
from drgst.selftrain.learners.network import Network
from drgst.selftrain.settings import Settings

QUICK: dict[str, Any] = {"epochs": 40, "patience": 40, "lr": 0.03}
GAIN: dict[str, Any] = {"samples": 4, "stages": 1}


class Net(nn.Module):
    """The network of PyG's introduction."""

    def __init__(self, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.conv1 = GCNConv(features, hidden)
        self.conv2 = GCNConv(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.dropout(self.conv1(x, edge_index).relu(), 0.5, training=self.training)
        return self.conv2(x, edge_index)


def make_net(features: int, classes: int) -> nn.Module:
    return Net(features, 16, classes)


def make_pna(features: int, classes: int) -> nn.Module:
    degrees = torch.tensor([0, 5, 10, 10, 5])
    return PNA(features, 8, 2, classes, aggregators=["mean", "max"], scalers=["identity"], deg=degrees)


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Three blocks, with the public split of its generator."""
    graph = drgst.block_model(60, 180, classes=3, features=30, words=8, signal=0.8, seed=1)
    return graph.with_(splits=(drgst.random_split(graph, per_class=4, val=15, test=20, seed=0),))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("backbone", [GCN, GraphSAGE, GAT, GIN, make_pna, make_net])
def test_models_of_pyg_learn(graph: Graph, backbone: Any, sparse: bool) -> None:
    import scipy.sparse as sp

    x = graph.features
    x = sp.csr_array(x) if sparse else x.toarray() if sp.issparse(x) else x
    model = drgst.DRGST(backbone=backbone, threshold=0.5, **QUICK, **GAIN).fit(graph.with_(features=x))
    assert len(model.history_) == 2
    assert (model.predict()[graph.split.test] == graph.labels[graph.split.test]).mean() > 0.6
    assert np.isfinite(model.gain_).all()
    assert (model.gain_ > 0).any()


NETWORKS = [name for name in recipe_names() if isinstance(find_recipe(name).make(Settings()).learner, Network)]


@pytest.mark.parametrize("recipe", NETWORKS)
def test_every_recipe_with_a_network_takes_a_module(graph: Graph, recipe: str) -> None:
    spec = find_recipe(recipe)
    settings = spec.readable({**QUICK, **GAIN, "epochs": 5})
    settings = {name: value for name, value in settings.items() if name != "hidden"}
    model = drgst.SelfTraining(recipe, settings, backbone=make_net).fit(graph)
    assert model.probabilities_.shape == (60, 3)
    assert any(name.startswith("module.conv1") for name in model.model_.state)


@pytest.mark.parametrize("recipe", ["label-propagation", "logistic-ppr", "drgst-plus"])
def test_a_recipe_without_a_network_takes_none(graph: Graph, recipe: str) -> None:
    with pytest.raises(SettingError, match=f"recipe {recipe} trains no network"):
        drgst.SelfTraining(recipe, backbone=make_net).fit(graph)


@pytest.mark.parametrize(
    ("backbone", "again"),
    [(GCN, None), (make_net, make_net), (Net(30, 16, 3), Net(30, 16, 3)), ("torch_geometric.nn:GCN", None)],
    ids=["class", "function", "instance", "import path"],
)
def test_saved_and_loaded_models_predict_the_same(graph: Graph, backbone: Any, again: Any, tmp_path: Path) -> None:
    model = drgst.SelfTraining("drgst-do", {**QUICK, **GAIN}, backbone=backbone).fit(graph)
    folder = str(tmp_path / "model")
    model.save(folder)
    assert {path.suffix for path in Path(folder).iterdir()} == {".safetensors", ".json"}
    if again is not None:
        with pytest.raises(RunError, match=r"can't be imported by name: give it, load_model\(folder, backbone=…\)"):
            drgst.load_model(folder)
    loaded = drgst.load_model(folder, backbone=again)
    np.testing.assert_array_equal(loaded.predict_proba(graph), model.predict_proba(graph))
    other = drgst.block_model(40, 80, classes=3, features=30, words=8, signal=0.8, seed=5)
    assert (loaded.predict(other) == other.labels).mean() > 0.5


def test_a_module_without_dropout_has_no_gain_by_dropout(graph: Graph) -> None:
    with pytest.raises(SettingError, match="backbone GIN has no dropout, so its information gain by dropout is 0"):
        drgst.DRGST(gain="dropout", dropout=0.0, backbone=GIN, **QUICK, **GAIN).fit(graph)


def test_a_saved_model_with_another_network_is_refused(graph: Graph, tmp_path: Path) -> None:
    drgst.SelfTraining("gcn", QUICK, backbone=make_net).fit(graph).save(str(tmp_path))
    with pytest.raises(RunError, match="its weights do not fit its settings"):
        drgst.load_model(str(tmp_path), backbone=lambda f, c: Net(f, 5, c))
