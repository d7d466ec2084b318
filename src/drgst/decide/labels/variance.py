"""Variance reduction in closed form, for a linear model on the representations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.decide.labels.state import BLOCK, Choice, LabelState


@dataclass(frozen=True)
class VarianceReduction:
    """u = argmax Σ_i w_i (σ²_i - σ²_{i | u}) = ‖M^½ Σ z_u‖² / (λ_u + z_uᵀ Σ z_u), repeated n times.

    σ²_i = z_iᵀ Σ z_i is the posterior variance of a ridge regression on Z at node i, Σ = (I + Σ_l z_l z_lᵀ / λ_l)^-1
    over the labelled nodes l, M = Σ_i w_i z_i z_iᵀ over all nodes (transductive experimental design: Yu, Bi, Tresp,
    2006). With the uncertainty u_i of a node, w_i = u_i^a weighs the nodes whose variance is to fall, a = ``target``,
    and λ_i = λ (1 + s u_i) is the variance of its label, s = ``doubt``: the label of a typical node tells more.
    ``balanced``: at most ⌈(M + n) / C⌉ of M given and n new labels are of a predicted class, while others have
    candidates. Labels do not enter σ², so a whole batch is chosen with rank-1 updates of Σ. Of more candidates than
    ``most`` a random part is compared.
    """

    noise: float = 0.1  # λ
    target: float = 0.0  # a
    doubt: float = 0.0  # s
    balanced: bool = False
    most: int = 20_000  # candidates that are compared

    def __call__(self, state: LabelState, n: int) -> Choice:
        z, candidates = state.representation, state.candidates
        if candidates.size > max(self.most, n):
            candidates = np.sort(state.rng.choice(candidates, max(self.most, n), replace=False))
        w = np.maximum(state.uncertainty, 1e-3) ** self.target
        noise = self.noise * (1 + self.doubt * state.uncertainty)
        known = np.asarray(z[state.labelled], dtype=np.float64) / np.sqrt(noise[state.labelled, None])
        sigma = np.linalg.inv(np.eye(z.shape[1]) + known.T @ known)
        m = weighted_gram(z, w / w.sum())
        rows, own = np.asarray(z[candidates], dtype=np.float64), noise[candidates]
        limit = ClassLimit(state, candidates, n) if self.balanced and state.probabilities is not None else None
        chosen: list[int] = []
        projected = rows @ sigma
        for _ in range(n):
            variance = np.einsum("nd,nd->n", projected, rows)
            score = np.einsum("nd,nd->n", projected @ m, projected) / (own + variance)
            score[chosen] = -np.inf
            best = int((score if limit is None else limit.restrict(score)).argmax())
            chosen.append(best)
            if limit is not None:
                limit.counts[limit.predicted[best]] += 1
            v = projected[best].copy()
            projected -= np.outer(rows @ v, v / (own[best] + variance[best]))
        return Choice.of(candidates[chosen])


class ClassLimit:
    """At most ⌈(M + n) / C⌉ of M given and n new labels of a predicted class, while others have candidates."""

    def __init__(self, state: LabelState, candidates: np.ndarray, n: int) -> None:
        assert state.probabilities is not None
        classes = state.probabilities.shape[1]
        self.predicted = state.probabilities[candidates].argmax(axis=1)  # (K,)
        self.counts = np.bincount(state.probabilities[state.labelled].argmax(axis=1), minlength=classes)
        self._most = -(-(state.labelled.size + n) // classes)

    def restrict(self, score: np.ndarray) -> np.ndarray:
        """-∞ for the candidates of a class that has as many as it may; ``score`` where no other candidate is left."""
        open_ = np.where(self.counts[self.predicted] < self._most, score, -np.inf)
        return open_ if np.isfinite(open_).any() else score


def weighted_gram(z: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Σ_i w_i z_i z_iᵀ, (D, D) float64, block by block."""
    total = np.zeros((z.shape[1], z.shape[1]))
    for start in range(0, len(z), BLOCK):
        block = np.asarray(z[start : start + BLOCK], dtype=np.float64)
        total += (block * w[start : start + BLOCK, None]).T @ block
    return total
