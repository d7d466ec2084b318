"""Select: which unlabelled nodes get a pseudo-label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from drgst.selftrain.beliefs import Beliefs, PseudoLabels


class Select(Protocol):
    """Beliefs -> PseudoLabels of nodes of the pool."""

    def __call__(self, beliefs: Beliefs, /) -> PseudoLabels: ...


@dataclass(frozen=True)
class Nothing:
    """S_U = ∅: the teacher alone."""

    def __call__(self, _beliefs: Beliefs) -> PseudoLabels:
        return PseudoLabels.empty()
