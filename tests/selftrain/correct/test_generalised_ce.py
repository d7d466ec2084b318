"""Generalised cross-entropy and its limits."""

from __future__ import annotations

import numpy as np
import torch

from drgst.nn.losses import GeneralisedCrossEntropy, cross_entropy
from drgst.selftrain.correct.generalised_ce import GeneralisedCE


def test_generalised_cross_entropy(trainer, labelled) -> None:
    made = GeneralisedCE(0.5)(trainer, labelled, None)
    assert trainer.losses == [GeneralisedCrossEntropy(0.5)]
    assert made.transition is None


def test_generalised_cross_entropy_between_its_limits() -> None:
    """q → 0 is cross-entropy, q = 1 is 1 - p_y; a hopeless label pulls less than under cross-entropy."""
    z, y = torch.tensor([[2.0, 0.0], [-3.0, 1.0]]), torch.tensor([0, 0])
    np.testing.assert_allclose(GeneralisedCrossEntropy(1e-3)(z, y), cross_entropy(z, y), rtol=1e-2)
    np.testing.assert_allclose(GeneralisedCrossEntropy(1.0)(z, y), 1 - z.softmax(dim=1)[:, 0], rtol=1e-6)
