"""Stop when the validation loss no longer falls."""

from __future__ import annotations

import math
from dataclasses import dataclass

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History


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
