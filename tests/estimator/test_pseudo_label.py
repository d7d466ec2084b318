"""PseudoLabel as a PyG transform."""

from __future__ import annotations

import torch
from torch_geometric.transforms import Compose, ToUndirected

import drgst
from drgst.estimator.pseudo_label import PseudoLabel


def test_pseudo_labels_in_data() -> None:
    graph = drgst.block_model(60, 180, classes=3, features=30, words=8, signal=0.8, seed=1)
    split = drgst.random_split(graph, per_class=4, val=15, test=20, seed=0)
    data = drgst.to_pyg(graph.with_(splits=(split,)))
    settings = {"epochs": 40, "samples": 3, "lr": 0.03, "threshold": 0.4, "keep": "last"}
    transform = PseudoLabel("drgst-de", settings=settings)
    made = Compose([ToUndirected(), transform])(data)
    assert "pseudo_y" not in data
    assert made.probability.shape == (60, 3)
    train = torch.from_numpy(split.train)
    assert torch.equal(made.pseudo_y[train], data.y[train])
    assert (made.pseudo_weight[train] == 1).all()
    assert torch.equal(made.pseudo_mask, made.pseudo_y >= 0)
    assert made.pseudo_mask.sum() > train.numel()
    assert (made.pseudo_weight[~made.pseudo_mask] == 0).all()
    assert not made.pseudo_mask[torch.from_numpy(split.val)].any()
    new = made.pseudo_mask.clone()
    new[train] = False
    assert (made.pseudo_y[new] == data.y[new]).float().mean() > 0.6
    assert repr(transform).startswith("PseudoLabel('drgst-de', settings={")
    assert drgst.estimator.pseudo_label.PseudoLabel is PseudoLabel
