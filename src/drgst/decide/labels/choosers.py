"""Choosers: which candidates to label next. :mod:`drgst.decide.labels.registry` gives each a name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drgst.decide.labels.state import BLOCK, Choice, Chooser, LabelState, highest, nearest

CLUSTERED = 20_000  # rows that centres of clusters are fitted to


@dataclass(frozen=True)
class Random:
    """P(u) = n / K: a simple random sample."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        drawn = state.rng.choice(state.candidates, n, replace=False)
        return Choice.of(drawn, n / state.candidates.size)


@dataclass(frozen=True)
class ClassBalanced:
    """P(u) = n_c / K_c: simple random samples of n_c of the K_c candidates that are predicted as class c.

    The n_c are equal up to one, as far as the candidates allow. Before the first label: :class:`Random`.
    """

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        predicted = state.probabilities[state.candidates].argmax(axis=1)
        sizes = np.bincount(predicted, minlength=state.probabilities.shape[1])
        found = Choice.of(np.empty(0, dtype=np.int64))
        for c, count in enumerate(equal_counts(sizes, n, state.rng)):
            if count:
                drawn = state.rng.choice(state.candidates[predicted == c], count, replace=False)
                found = found.then(Choice.of(drawn, count / sizes[c]))
        return found


@dataclass(frozen=True)
class Margin:
    """The n smallest p_(1) - p_(2), first class over second; before the first label a random sample."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        top = np.partition(state.probabilities[state.candidates], -2, axis=1)
        return Choice.of(state.candidates[highest(top[:, -2] - top[:, -1], n)])


@dataclass(frozen=True)
class InformationGain:
    """One node of each of n clusters: u_j = argmin_{u ∈ S_j, B_u ≥ med_j} ‖z_u - μ_j‖, largest B first.

    The clusters minimise Σ_j Σ_{u ∈ S_j} B_u ‖z_u - μ_j‖² over the ``shortlist`` n candidates of largest B; med_j is
    the median of B in S_j. B is the information gain of the run, or its entropy where the gain is unknown or 0. The
    node of largest B is often an outlier, so the most typical one of the upper half is taken.
    """

    shortlist: int = 100

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        scores = self.scores(state)
        short = state.candidates[highest(scores[state.candidates], self.shortlist * n)]
        if short.size <= n:
            return Choice.of(short)
        b = scores[short]
        cluster, distance = kmeans(state.representation[short], b, n, state.rng)
        picked = []
        for j in range(cluster.max() + 1):
            members = np.flatnonzero(cluster == j)
            picked.append(typical(members[b[members] >= np.median(b[members])], distance))
        rest = np.setdiff1d(np.arange(short.size), picked)[: n - len(picked)]  # equal rows give fewer clusters
        return Choice.of(short[np.sort(np.append(picked, rest).astype(np.int64))])

    def scores(self, state: LabelState) -> np.ndarray:
        """B, (N,), no value below 0; the entropy of p where B is unknown or 0 at every candidate."""
        b, p = state.gain, state.probabilities
        assert p is not None
        if b is not None and np.isfinite(b[state.candidates]).all() and (b[state.candidates] > 0).any():
            return np.maximum(b, 0)
        return np.asarray(-(p * np.log(np.maximum(p, 1e-12))).sum(axis=1))


@dataclass(frozen=True)
class Medoids:
    """The node nearest to the centre of each of n clusters of propagated features (FeatProp, Wu et al., 2019).

    The clusters minimise Σ_j Σ_{u ∈ S_j} u^a ‖z_u - μ_j‖², with the uncertainty u of a node and a = ``power``.
    """

    power: float = 0.0

    def __call__(self, state: LabelState, n: int) -> Choice:
        weights = np.maximum(state.uncertainty[state.candidates], 1e-3) ** self.power
        cluster, distance = kmeans(state.representation[state.candidates], weights, n, state.rng)
        places = [typical(np.flatnonzero(cluster == j), distance) for j in range(cluster.max() + 1)]
        rest = np.setdiff1d(np.arange(state.candidates.size), places)[: n - len(places)]
        return Choice.of(state.candidates[np.append(places, rest).astype(np.int64)])


@dataclass(frozen=True)
class BeforeLabels:
    """``first`` before any label is given, ``then`` afterwards."""

    first: Chooser
    then: Chooser

    def __call__(self, state: LabelState, n: int) -> Choice:
        return (self.first if state.probabilities is None else self.then)(state, n)


@dataclass(frozen=True)
class Switch:
    """``first`` while there are fewer than m C labels, m = ``labels``, for C classes, ``then`` afterwards."""

    first: Chooser
    then: Chooser
    labels: float = 6.0  # per class

    def __call__(self, state: LabelState, n: int) -> Choice:
        classes = 1 if state.probabilities is None else state.probabilities.shape[1]
        return (self.first if state.labelled.size < self.labels * classes else self.then)(state, n)


@dataclass(frozen=True)
class HalfRandom:
    """Half of the nodes, rounded up, are a simple random sample and half are ``other``'s, up to s labels of a sample.

    s = ``labels``. Other labels are not a sample: without random ones, neither accuracy nor class shares are known, and
    clusters that are not classes may take all labels (experiment 040).
    """

    other: Chooser
    labels: int = 20

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.sampled >= self.labels:
            return self.other(state, n)
        drawn = Random()(state, min(-(-n // 2), self.labels - state.sampled))
        left = state.without(drawn.nodes)
        return drawn.then(self.other(left, n - drawn.nodes.size)) if drawn.nodes.size < n else drawn


def equal_counts(sizes: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """n as counts per class that are equal up to one, none above its size; which classes have one more is random."""
    counts = np.zeros_like(sizes)
    while n > 0:
        open_ = rng.permutation(np.flatnonzero(counts < sizes))
        lowest = open_[counts[open_] == counts[open_].min()][:n]
        counts[lowest] += 1
        n -= lowest.size
    return counts


def kmeans(rows: np.ndarray, weights: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The cluster of each of the (K, D) ``rows``, numbered from 0 without gaps, and its distance from the centre.

    Centres minimise Σ_i w_i ‖z_i - μ_{j(i)}‖² over at most 20,000 rows, every k-th of them.
    """
    from sklearn.cluster import KMeans

    fitted = np.arange(len(rows))[:: -(-len(rows) // CLUSTERED)]
    distinct = len(np.unique(rows[fitted], axis=0))
    floor = max(weights.max() * 1e-9, 1e-12)  # a cluster in which every weight is 0 has no centre
    means = KMeans(min(n, distinct), n_init=3, random_state=int(rng.integers(2**31)))
    centres = means.fit(rows[fitted], sample_weight=weights[fitted] + floor).cluster_centers_
    place, distance = nearest(rows, centres)
    return np.unique(place, return_inverse=True)[1], distance


def typical(members: np.ndarray, distance: np.ndarray) -> int:
    """The member nearest to the centre of its cluster."""
    return int(members[np.argmin(distance[members])])


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
