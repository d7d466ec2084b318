"""No correction: one training with cross-entropy."""

from __future__ import annotations

from drgst.nn.losses import cross_entropy
from drgst.selftrain.correct.base import NoCorrection


def test_no_correction(trainer, labelled) -> None:
    made = NoCorrection()(trainer, labelled, None)
    assert trainer.losses == [cross_entropy]
    assert made.transition is None
    assert made.trainings == (made.student,)
