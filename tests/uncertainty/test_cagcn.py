"""CaGCN: the calibrator keeps every prediction, and its loss has two terms."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from drgst.nn.ops.adjacency import Adjacency
from drgst.nn.random import generator, seeded_torch
from drgst.uncertainty.cagcn import CalibrationLoss, Calibrator, apply_cagcn, fit_cagcn


def test_factors_are_positive_and_follow_the_formula(weighted) -> None:
    adj: Adjacency = weighted.inputs.adj
    logits = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
    with seeded_torch(generator(0)):
        network = Calibrator(3).eval()
    t: Tensor = network.gcn(logits, adj)
    torch.testing.assert_close(network(logits, adj), logits * torch.log(t.exp() + 1.1))
    assert torch.equal(network(logits, adj).argmax(dim=1), logits.argmax(dim=1))


def test_the_loss_by_hand() -> None:
    """A correct prediction with margin 0.4 and a wrong one with margin 0.2."""
    p = torch.tensor([[0.6, 0.2, 0.2], [0.5, 0.3, 0.2]])
    loss = CalibrationLoss(np.array([0, 1]), np.array([0, 1]), weight=0.5)
    cross_entropy = -np.log([0.6, 0.3]).mean()
    assert np.isclose(loss(p.log(), 0).item(), cross_entropy + 0.5 * (0.6 + 0.2) / 2)


def test_a_fit_lowers_its_loss(weighted) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    logits = (8 * (np.eye(3)[labels] + rng.normal(size=(60, 3)))).astype(np.float32)  # overconfident
    loss, adj = CalibrationLoss(np.arange(60), labels, 0.5), weighted.inputs.adj
    made = apply_cagcn(fit_cagcn(logits, adj, loss, generator(0)), logits, adj)
    before, after = (loss(torch.from_numpy(z), 0).item() for z in (logits, made))
    assert after < 0.8 * before
    np.testing.assert_array_equal(made.argmax(axis=1), logits.argmax(axis=1))
