"""Postprocess by correct-and-smooth, and the smoothing of probabilities over edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.nn.ops.adjacency import laplacian_norm
from drgst.selftrain.beliefs import softmax
from drgst.selftrain.postprocess.base import Adjusted, Context, Postprocess
from drgst.uncertainty.calibration import centre


def spread(s: sp.csr_array, start: np.ndarray, alpha: float, rounds: int) -> np.ndarray:
    """G⁰ = start, Gᵗ⁺¹ = (1-α) start + α S Gᵗ, (N, C)."""
    g = start
    for _ in range(rounds):
        g = (1 - alpha) * start + alpha * (s @ g)
    return g


def smoothed_beliefs(log_p: np.ndarray, s: sp.csr_array, rounds: int = 5) -> np.ndarray:
    """log of G⁵, G⁰ = p, Gᵗ⁺¹ = 0.2 p + 0.8 S Gᵗ, rows made to sum to 1, (N, C)."""
    p = np.maximum(spread(s, softmax(log_p), 0.8, rounds), 1e-12)
    return np.asarray(np.log(p / p.sum(axis=1, keepdims=True)))


def own_and_around(log_p: np.ndarray, s: sp.csr_array | None) -> np.ndarray:
    """log p, and where there is an S log p smoothed over its edges, no p below 10⁻⁶; rows of mean 0, (1 or 2, N, C)."""
    parts = [log_p] if s is None else [log_p, np.maximum(smoothed_beliefs(log_p, s), np.log(1e-6))]
    return centre(np.stack(parts))


def corrected(p: np.ndarray, s: sp.csr_array, nodes: np.ndarray, truth: np.ndarray, alpha: float) -> np.ndarray:
    """p_u + σ Ê_u / ‖Ê_u‖₁: Ê spreads the errors E = Y - p of the labelled nodes, σ their mean ‖·‖₁ (autoscale)."""
    error = np.zeros_like(p)
    error[nodes] = truth - p[nodes]
    scale = np.abs(error[nodes]).sum(axis=1).mean()
    reach = spread(s, error, alpha, 50)
    length = np.abs(reach).sum(axis=1, keepdims=True)
    return p + scale * np.divide(reach, length, out=np.zeros_like(reach), where=length > 0)


@dataclass(frozen=True)
class CorrectAndSmooth(Postprocess):
    """Correct: p + σ Ê/‖Ê‖₁; then smooth: G = the truth on V_L, the corrected p elsewhere, spread by S = D^-½AD^-½.

    Huang et al., Combining Label Propagation and Simple Models, ICLR 2021, with its autoscale and 50 rounds each
    of Gᵗ⁺¹ = (1-α) G⁰ + α S Gᵗ. Only training labels are used, as in the paper's first variant. Entries below 0 count
    as 0 and rows are made to sum to 1 again; a node without neighbours keeps its corrected p. It knows one graph only.
    """

    correct_alpha: float = 0.8
    smooth_alpha: float = 0.8

    def __call__(self, logits: np.ndarray, context: Context) -> Adjusted:
        problem = context.problem
        s = -laplacian_norm(problem.graph.adjacency).astype(np.float64)
        nodes = problem.split.train
        truth = np.eye(logits.shape[1])[problem.graph.labels[nodes]]
        p = corrected(softmax(logits), s, nodes, truth, self.correct_alpha)
        p[nodes] = truth
        smooth = np.maximum(spread(s, p, self.smooth_alpha, 50), 1e-12)
        return Adjusted(np.log(smooth / smooth.sum(axis=1, keepdims=True)))
