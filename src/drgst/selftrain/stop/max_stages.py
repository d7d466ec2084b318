"""Stop after a number of stages."""

from __future__ import annotations

from dataclasses import dataclass

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History


@dataclass(frozen=True)
class MaxStages:
    """End after ``stages`` stages."""

    stages: int

    def __call__(self, history: History, _pseudo: PseudoLabels) -> str | None:
        return f"all {self.stages} stages are done" if len(history) - 1 >= self.stages else None
