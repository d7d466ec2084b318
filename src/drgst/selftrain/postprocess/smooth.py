"""Postprocess by correct-and-smooth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.selftrain.postprocess.base import Adjusted, Context, Postprocess
from drgst.transforms.normalise import sym_norm_without_loops
from drgst.transforms.propagate import propagate
from drgst.transforms.softmax import softmax


def corrected(p: np.ndarray, s: sp.csr_array, nodes: np.ndarray, truth: np.ndarray, alpha: float) -> np.ndarray:
    """p_u + σ Ê_u / ‖Ê_u‖₁: Ê propagates the errors E = Y - p of the labelled nodes, σ their mean ‖·‖₁ (autoscale)."""
    error = np.zeros_like(p)
    error[nodes] = truth - p[nodes]
    scale = np.abs(error[nodes]).sum(axis=1).mean()
    reach = propagate(s, error, alpha, 50)
    length = np.abs(reach).sum(axis=1, keepdims=True)
    return p + scale * np.divide(reach, length, out=np.zeros_like(reach), where=length > 0)


@dataclass(frozen=True)
class CorrectAndSmooth(Postprocess):
    """Correct: p + σ Ê/‖Ê‖₁; then smooth: G = the truth on V_L, the corrected p elsewhere, propagated by S = D^-½AD^-½.

    Huang et al., Combining Label Propagation and Simple Models, ICLR 2021, with its autoscale and 50 rounds each
    of Gᵗ⁺¹ = (1-α) G⁰ + α S Gᵗ. Only training labels are used, as in the paper's first variant. Entries below 0 count
    as 0 and rows are made to sum to 1 again; a node without neighbours keeps its corrected p. It knows one graph only.
    """

    correct_alpha: float = 0.8
    smooth_alpha: float = 0.8

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        problem = context.problem
        s = sym_norm_without_loops(problem.graph.adjacency).astype(np.float64)
        nodes = problem.split.train
        truth = np.eye(logits.shape[1])[problem.graph.labels[nodes]]
        p = corrected(softmax(logits), s, nodes, truth, self.correct_alpha)
        p[nodes] = truth
        smooth = np.maximum(propagate(s, p, self.smooth_alpha, 50), 1e-12)
        return Adjusted(np.log(smooth / smooth.sum(axis=1, keepdims=True)))
