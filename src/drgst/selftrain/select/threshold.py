"""Select: which unlabelled nodes to trust. Each part is called with Beliefs and gives a PseudoLabels from the pool.

The paper's own choice is here; by rank in :mod:`~drgst.selftrain.select.rank`, by random walks in
:mod:`~drgst.selftrain.select.walks`, by clusters in :mod:`~.clusters`, and what combines two parts in
:mod:`~drgst.selftrain.select.combine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from drgst.selftrain.beliefs import Beliefs, PseudoLabels


class Select(Protocol):
    """The verb: Beliefs -> PseudoLabels."""

    def __call__(self, beliefs: Beliefs) -> PseudoLabels: ...


@dataclass(frozen=True)
class Threshold:
    """S_U = {u ∈ V_U : r_u > τ} with ȳ_u = argmax_j p_uj: the paper's choice (Algorithm 1, line 3)."""

    threshold: float

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        pool = beliefs.split.pool
        nodes = pool[beliefs.confidence[pool] > self.threshold]
        return PseudoLabels.of(nodes, beliefs.predictions[nodes])


@dataclass(frozen=True)
class Nothing:
    """S_U = ∅: a network alone."""

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:  # noqa: ARG002
        return PseudoLabels.empty()
