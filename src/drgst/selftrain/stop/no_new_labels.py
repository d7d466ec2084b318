"""Stop where nothing is pseudo-labelled."""

from __future__ import annotations

from dataclasses import dataclass

from drgst.selftrain.beliefs import PseudoLabels
from drgst.selftrain.history import History


@dataclass(frozen=True)
class NoNewLabels:
    """End when S_U = ∅."""

    reason: str = "no unlabelled node is pseudo-labelled"

    def __call__(self, _history: History, pseudo: PseudoLabels) -> str | None:
        return None if pseudo.nodes.size else self.reason
