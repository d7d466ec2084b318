"""Variance reduction in closed form, for a linear model on the representations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.label.base import BLOCK, Choice, LabelState


@dataclass(frozen=True)
class VarianceReduction:
    """u = argmax Σ_i w_i (σ²_i - σ²_{i | u}) = b_u ‖M^½ Σ z_u‖² / (λ + b_u z_uᵀ Σ z_u), again and again.

    σ²_i = z_iᵀ Σ z_i is the posterior variance of a ridge regression on Z at node i, Σ = (I + Σ_l b_l z_l z_lᵀ / λ)^-1
    over the labelled nodes l, M = Σ_i w_i z_i z_iᵀ over all nodes (transductive experimental design: Yu, Bi, Tresp,
    2006). w_i = u_i^a and b_i = u_i^c with the uncertainty u_i: a = ``target`` weighs the nodes whose variance is to
    fall, c = ``information`` the information of a label, which in logistic regression is p (1 - p). Labels do not enter
    σ², so a whole batch is chosen with rank-1 updates of Σ. Of more candidates than ``most`` a
    random part is compared.
    """

    noise: float = 0.1  # λ
    target: float = 0.0  # a
    information: float = 0.0  # c
    most: int = 20_000  # candidates that are compared

    def __call__(self, state: LabelState, n: int) -> Choice:
        z, candidates = state.representation, state.candidates
        if candidates.size > max(self.most, n):
            candidates = np.sort(state.rng.choice(candidates, max(self.most, n), replace=False))
        u = np.maximum(state.uncertainty, 1e-3)
        w, b = _mean_one(u**self.target), _mean_one(u**self.information)
        known = np.asarray(z[state.labelled], dtype=np.float64) * np.sqrt(b[state.labelled, None] / self.noise)
        sigma = np.linalg.inv(np.eye(z.shape[1]) + known.T @ known)
        m = weighted_gram(z, w) / len(z)
        rows, own = np.asarray(z[candidates], dtype=np.float64), b[candidates]
        chosen: list[int] = []
        projected = rows @ sigma
        for _ in range(n):
            variance = np.einsum("nd,nd->n", projected, rows)
            score = own * np.einsum("nd,nd->n", projected @ m, projected) / (self.noise + own * variance)
            score[chosen] = -np.inf
            best = int(score.argmax())
            chosen.append(best)
            v = projected[best].copy()
            projected -= np.outer(rows @ v, v / (self.noise / own[best] + variance[best]))
        return Choice.of(candidates[chosen])


def weighted_gram(z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Σ_i w_i z_i z_iᵀ, (D, D) float64, block by block."""
    total = np.zeros((z.shape[1], z.shape[1]))
    for start in range(0, len(z), BLOCK):
        block = np.asarray(z[start : start + BLOCK], dtype=np.float64)
        total += (block * w[start : start + BLOCK, None]).T @ block
    return total


def _mean_one(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / values.mean())
