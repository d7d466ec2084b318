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
        return self.reason if len(history) - 1 >= self.stages else None

    @property
    def reason(self) -> str:
        """Why the run ends after the last stage."""
        return "1 stage is done" if self.stages == 1 else f"all {self.stages} stages are done"
