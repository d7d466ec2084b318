"""Stop: when to end, and why."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History

# (history so far, pseudo-labels of the next stage) -> reason, or None to go on; called before each stage
Stop = Callable[[History, PseudoLabels], str | None]


@dataclass(frozen=True)
class MaxStages:
    """End after ``stages`` stages."""

    stages: int

    def __call__(self, history: History, _pseudo: PseudoLabels) -> str | None:
        if len(history) <= self.stages:
            return None
        return "1 stage is done" if self.stages == 1 else f"all {self.stages} stages are done"


@dataclass(frozen=True)
class NoNewLabels:
    """End when S_U = ∅."""

    reason: str = "no unlabelled node is pseudo-labelled"

    def __call__(self, _history: History, pseudo: PseudoLabels) -> str | None:
        return None if pseudo.nodes.size else self.reason


@dataclass(frozen=True)
class Agreement:
    """End when |S_U ∩ S_U'| / |S_U ∪ S_U'|, same labels, reaches a share; 1 means unchanged."""

    share: float = 1.0

    def __call__(self, history: History, pseudo: PseudoLabels) -> str | None:
        if len(history) < 2 or pseudo.agreement(history[-1].pseudo_labels) < self.share:
            return None
        if self.share == 1:
            return "converged: the pseudo-labels did not change"
        return f"converged: {self.share:.1%} of the pseudo-labels did not change"


@dataclass(frozen=True)
class ValidationPlateau:
    """End when the validation loss has not fallen for ``patience`` stages; never where there is no validation."""

    patience: int = 2

    def __call__(self, history: History, _pseudo: PseudoLabels) -> str | None:
        losses = [s.val_loss for s in history.stages]
        if any(math.isnan(loss) for loss in losses):
            return None
        best = min(range(len(losses)), key=losses.__getitem__)
        if len(losses) - 1 - best < self.patience:
            return None
        return f"validation loss did not fall for {self.patience} stages"
