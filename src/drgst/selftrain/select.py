"""Select: which unlabelled nodes to trust. Each part is called with Beliefs and gives a Chosen from the pool.

The paper's own choice is here; by rank in :mod:`~drgst.selftrain.rank`, by random walks in
:mod:`~drgst.selftrain.walks`, by clusters in :mod:`~drgst.selftrain.clusters`, and what combines two parts in
:mod:`~drgst.selftrain.combine`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from drgst.selftrain.beliefs import Beliefs, Chosen


class Select(Protocol):
    """The verb: Beliefs -> Chosen."""

    def __call__(self, beliefs: Beliefs) -> Chosen: ...


@dataclass(frozen=True)
class Threshold:
    """S_U = {u ∈ V_U : r_u > τ} with ȳ_u = argmax_j p_uj: the paper's choice (Algorithm 1, line 3)."""

    threshold: float

    def __call__(self, beliefs: Beliefs) -> Chosen:
        pool = beliefs.split.pool
        nodes = pool[beliefs.confidence[pool] > self.threshold]
        return Chosen.of(nodes, beliefs.predictions[nodes])


@dataclass(frozen=True)
class Nothing:
    """S_U = ∅: a network alone."""

    def __call__(self, beliefs: Beliefs) -> Chosen:  # noqa: ARG002
        return Chosen.nothing()
