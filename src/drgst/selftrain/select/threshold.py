"""Select by a threshold on confidence: the paper's choice."""

from __future__ import annotations

from dataclasses import dataclass

from drgst.selftrain.beliefs import Beliefs, PseudoLabels


@dataclass(frozen=True)
class Threshold:
    """S_U = {u ∈ V_U : r_u > τ} with ȳ_u = argmax_j p_uj (Algorithm 1, line 3)."""

    threshold: float

    def __call__(self, beliefs: Beliefs) -> PseudoLabels:
        nodes = beliefs.candidates[beliefs.confidence[beliefs.candidates] > self.threshold]
        return PseudoLabels.of(nodes, beliefs.predictions[nodes])
