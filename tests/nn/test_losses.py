"""Losses by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from drgst.nn.losses import (
    CorrectedCrossEntropy,
    WeightedLoss,
    cross_entropy,
)

P = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]])
LABELS = torch.tensor([0, 2])


def test_cross_entropy_is_minus_log_p() -> None:
    expected = torch.tensor([-math.log(0.7), -math.log(0.3)])
    torch.testing.assert_close(cross_entropy(P.log(), LABELS), expected)


def test_correction_by_hand_and_by_identity() -> None:
    transition = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.0, 0.5, 0.5]])
    corrected = [0.7 * 0.9 + 0.2 * 0.2 + 0.1 * 0.0, 0.1 * 0.0 + 0.6 * 0.0 + 0.3 * 0.5]
    loss = CorrectedCrossEntropy(transition)(P.log(), LABELS)
    torch.testing.assert_close(loss, -torch.tensor(corrected).log())
    torch.testing.assert_close(CorrectedCrossEntropy(torch.eye(3))(P.log(), LABELS), cross_entropy(P.log(), LABELS))


def test_weighted_loss_divides_by_the_number_of_nodes() -> None:
    objective = WeightedLoss(np.array([4, 9]), LABELS.numpy(), np.array([1.0, 0.25]))
    value = objective(P.log(), 0)
    assert value.item() == pytest.approx((-math.log(0.7) - 0.25 * math.log(0.3)) / 2, rel=1e-6)


def test_weights_of_one_give_the_mean() -> None:
    objective = WeightedLoss(np.array([0, 1]), LABELS.numpy(), np.ones(2))
    torch.testing.assert_close(objective(P.log(), 0), torch.nn.functional.cross_entropy(P.log(), LABELS))
