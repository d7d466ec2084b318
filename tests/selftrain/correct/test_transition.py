"""Train, learn T, retrain."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from drgst.nn.losses import CorrectedCrossEntropy, cross_entropy
from drgst.selftrain.correct.transition import Transition, learn_transition
from drgst.transforms.softmax import softmax


@pytest.mark.parametrize("before", [None, np.full((3, 3), 1 / 3)])
def test_transition_trains_twice_and_forgets_the_stage_before(trainer, labelled, before) -> None:
    made = Transition()(trainer, labelled, before)
    assert trainer.losses[0] is cross_entropy
    assert isinstance(trainer.losses[1], CorrectedCrossEntropy)
    first, second = made.trainings
    assert made.student is second
    t = learn_transition(softmax(first.logits[labelled.nodes]), labelled.labels, 3)
    np.testing.assert_array_equal(made.transition, t)


def test_corrected_loss_survives_a_transition_that_is_no_distribution() -> None:
    """Eq. update_T allows negative entries: below 1e-8 counts as 1e-8, so the loss stays finite, gradient and all."""
    z = torch.tensor([[5.0, -5.0]], requires_grad=True)
    loss = CorrectedCrossEntropy(torch.tensor([[1.0, -0.2], [0.0, 1.0]]))(z, torch.tensor([1])).sum()
    loss.backward()
    assert loss.item() == pytest.approx(-np.log(1e-8), rel=1e-5)
    assert torch.isfinite(z.grad).all()
