"""Stop: when to end, and why. Each part is asked before a stage is trained and gives a reason or None."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History


class Stop(Protocol):
    """The verb: (History so far, what the next stage would train on) -> reason or None."""

    def __call__(self, history: History, pseudo: PseudoLabels) -> str | None: ...


@dataclass(frozen=True)
class MaxStages:
    """End after so many stages."""

    stages: int

    def __call__(self, history: History, pseudo: PseudoLabels) -> str | None:  # noqa: ARG002
        done = len(history) - 1
        return f"all {self.stages} stages are done" if done >= self.stages else None


@dataclass(frozen=True)
class NoNewLabels:
    """End when no node is trusted: S_U = ∅."""

    def __call__(self, history: History, pseudo: PseudoLabels) -> str | None:  # noqa: ARG002
        return None if pseudo.nodes.size else "no unlabelled node is trusted"


@dataclass(frozen=True)
class Agreement:
    """Convergence: end when |S_U ∩ S_U'| / |S_U ∪ S_U'|, same labels, reaches a share; 1 means unchanged."""

    share: float = 1.0

    def __call__(self, history: History, pseudo: PseudoLabels) -> str | None:
        if len(history) < 2 or pseudo.agreement(history[-1].pseudo) < self.share:
            return None
        if self.share == 1:
            return "converged: the trusted set did not change"
        return f"converged: {self.share:.1%} of the trusted set is as it was"


@dataclass(frozen=True)
class ValidationPlateau:
    """End when the validation loss has not fallen for so many stages; never where there is no validation."""

    patience: int = 2

    def __call__(self, history: History, pseudo: PseudoLabels) -> str | None:  # noqa: ARG002
        losses = [s.val_loss for s in history.stages]
        if any(math.isnan(loss) for loss in losses):
            return None
        best = min(range(len(losses)), key=losses.__getitem__)
        if len(losses) - 1 - best < self.patience:
            return None
        return f"validation loss did not fall for {self.patience} stages"
