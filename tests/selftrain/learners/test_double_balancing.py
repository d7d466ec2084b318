"""IceBerg's objective by hand: balanced and reverse cross-entropy, what is selected, and the warm-up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from drgst.nn.losses import cross_entropy
from drgst.selftrain.learners.double_balancing import DoubleBalancing, balanced_cross_entropy, reverse_cross_entropy
from drgst.selftrain.problem import Targets

LOGITS = torch.tensor([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 3.0], [0.5, 0.0, 0.0]])


def test_balanced_cross_entropy_adds_the_log_of_the_shares() -> None:
    labels = torch.tensor([0, 1, 0, 0])
    shares = np.array([3, 1, 1]) / 5  # class 2 counts as one label
    z = LOGITS.double().numpy() + np.log(shares)
    wanted = np.log(np.exp(z).sum(axis=1)) - z[np.arange(4), labels.numpy()]
    np.testing.assert_allclose(balanced_cross_entropy(LOGITS.double(), labels), wanted)
    equal = torch.tensor([0, 1, 2])
    np.testing.assert_allclose(balanced_cross_entropy(LOGITS[:3], equal), cross_entropy(LOGITS[:3], equal), rtol=1e-6)


def test_reverse_cross_entropy_is_bounded() -> None:
    labels = torch.tensor([1, 1, 0, 2])
    p = LOGITS.softmax(dim=1)[torch.arange(4), labels]
    np.testing.assert_allclose(reverse_cross_entropy(LOGITS, labels), 4 * (1 - p), rtol=1e-6)
    assert reverse_cross_entropy(1e4 * LOGITS, labels).max() <= 4


def test_the_loss_by_hand(world: Any) -> None:
    problem, train = world.problem(), world.split.train
    targets = Targets(train, world.graph.labels[train], np.ones(train.size), train.size)
    objective = DoubleBalancing(0.5, reverse=0.25, warm_up=3)(problem, targets, cross_entropy)
    logits = torch.zeros(objective.nodes.size, 3)
    logits[train.size, 0] = logits[train.size + 1, 2] = 4.0  # two nodes of the pool above the mean confidence
    supervised = objective(logits, 2)
    assert supervised.item() == pytest.approx(np.log(3), rel=1e-6), "equal shares, equal logits"
    rows, labels = objective.pseudo_labels(logits)
    assert (rows.tolist(), labels.tolist()) == ([train.size, train.size + 1], [0, 2])
    pseudo = balanced_cross_entropy(logits[rows], labels) + 0.25 * reverse_cross_entropy(logits[rows], labels)
    assert objective(logits, 3).item() == pytest.approx((supervised + 0.5 * pseudo.mean()).item(), rel=1e-6)


def test_the_recipe_learns(world: Any) -> None:
    history = world.run("iceberg", epochs=100, hidden=16)
    assert len(history) == 1
    assert history.stop_reason.startswith("pseudo-labels are selected inside training")
    labels = world.graph.labels[world.split.val]
    assert (history[0].predictions[world.split.val] == labels).mean() > 0.6
