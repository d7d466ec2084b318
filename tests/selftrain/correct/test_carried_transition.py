"""One training with a T that the teacher's predictions update."""

from __future__ import annotations

import numpy as np
import torch

from drgst.selftrain.correct.base import Teacher
from drgst.selftrain.correct.carried_transition import CarriedTransition, learn_transition_as_released
from drgst.transforms.softmax import softmax


def test_carried_transition_trains_once_with_the_updated_one(trainer, labelled) -> None:
    before = np.array([[0.8, 0.1, 0.1], [0.0, 1.0, 0.0], [0.2, 0.0, 0.8]])
    logits = np.random.default_rng(0).normal(size=(60, 3))
    p = softmax(logits[labelled.nodes])
    for place, transition in enumerate((before, None)):
        made = CarriedTransition()(trainer, labelled, Teacher(logits, transition))
        start = np.eye(3) if transition is None else transition
        wanted = learn_transition_as_released(p, labelled.labels, start)
        np.testing.assert_array_equal(made.transition, wanted)
        np.testing.assert_allclose(trainer.losses[place].transition, torch.from_numpy(wanted).float())
        assert len(made.trainings) == 1
    assert before[0, 0] == 0.8, "what it was given is not changed"
