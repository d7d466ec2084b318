"""What every stop part keeps to, also a user's own."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History
from drgst.selftrain.parts import Agreement, MaxStages, NoNewLabels, ValidationPlateau


def ten_pseudo_labels(history: History, pseudo: PseudoLabels) -> str | None:
    """A user's function."""
    return "ten nodes are pseudo-labelled" if pseudo.nodes.size >= 10 else None


@dataclass(frozen=True)
class AccurateEnough:
    """A user's part."""

    accuracy: float

    def __call__(self, history: History, pseudo: PseudoLabels) -> str | None:
        return "accurate enough" if history[-1].val_accuracy >= self.accuracy else None


SLOT = "stop"
OURS = (MaxStages(1), NoNewLabels(), Agreement(), Agreement(0.5), ValidationPlateau(1))
OWN = (ten_pseudo_labels, AccurateEnough(0.5))


def test_none_or_a_reason(part: Any, history: History) -> None:
    """After every stage, for no, few and the same pseudo-labels; asked twice, it answers the same."""
    few = PseudoLabels.of(np.array([40, 41]), np.array([0, 1]))
    reasons = set()
    for count in range(1, len(history) + 1):
        so_far = History(history.stages[:count])
        for pseudo in (PseudoLabels.empty(), few, so_far[-1].pseudo_labels):
            reason = part(so_far, pseudo)
            assert reason == part(so_far, pseudo)
            reasons.add(reason)
    assert all(reason is None or (isinstance(reason, str) and reason) for reason in reasons)


def test_a_run_ends_with_the_reason(part: Any, world: Any) -> None:
    from drgst.selftrain.engine import self_train
    from drgst.selftrain.recipe import Recipe
    from drgst.selftrain.slots.select import Threshold

    reasons = []

    def recorded(history: History, pseudo: PseudoLabels) -> str | None:
        reasons.append(part(history, pseudo))
        return reasons[-1]

    done = self_train(world.problem(epochs=5), Recipe(select=Threshold(0.0), stop=(recorded, MaxStages(3))))
    assert reasons[:-1] == [None] * (len(done) - 1)
    assert done.stop_reason == (reasons[-1] or "all 3 stages are done")
