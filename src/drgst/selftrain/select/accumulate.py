"""Select that keeps what was pseudo-labelled before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from drgst.selftrain.beliefs import Beliefs, PseudoLabels
from drgst.selftrain.select.base import Select


@dataclass(frozen=True)
class Accumulate:
    """S_U of stage k = S_U of its teacher ∪ what ``inner`` selects from the rest of the pool.

    A node keeps the pseudo-label that it was given first.
    """

    inner: Select

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        before = beliefs.previous
        return before.union(self.inner(replace(beliefs, excluded=before.nodes)))
