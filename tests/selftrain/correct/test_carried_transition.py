"""One training with the T of the stage before."""

from __future__ import annotations

import numpy as np
import torch

from drgst.graph.transforms.softmax import softmax
from drgst.selftrain.correct.carried_transition import CarriedTransition, learn_transition_as_released


def test_carried_transition_trains_once_with_the_one_before(trainer, labelled) -> None:
    before = np.array([[0.8, 0.1, 0.1], [0.0, 1.0, 0.0], [0.2, 0.0, 0.8]])
    made = CarriedTransition()(trainer, labelled, before)
    (loss,) = trainer.losses
    np.testing.assert_allclose(loss.transition, torch.from_numpy(before).float())
    p = softmax(made.student.logits[labelled.nodes])
    np.testing.assert_array_equal(made.transition, learn_transition_as_released(p, labelled.labels, before))
    assert before[0, 0] == 0.8, "what it was given is not changed"
    CarriedTransition()(trainer, labelled, None)
    np.testing.assert_array_equal(trainer.losses[1].transition, torch.eye(3))
