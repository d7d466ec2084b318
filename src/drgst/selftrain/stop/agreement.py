"""Stop at convergence."""

from __future__ import annotations

from dataclasses import dataclass

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History


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
