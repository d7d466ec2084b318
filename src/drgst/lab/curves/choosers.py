"""Choosers that are compared in learning curves and that ``drgst suggest`` does not offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from drgst.decide.labels.choosers import BeforeLabels, Margin, Medoids, Random
from drgst.decide.labels.registry import CHOOSERS, TYPICAL, ChooserSpec
from drgst.decide.labels.state import Choice, Chooser, LabelState, highest, nearest
from drgst.decide.labels.variance import VarianceReduction
from drgst.errors import SettingError


@dataclass(frozen=True)
class Spread:
    """P(u) = 1 / K_s: one random candidate of each of n strata s of K_s similar candidates.

    The strata are those of :func:`split_into_strata`: the sample is spread over the
    representation, and each part of it is drawn at random. ``power`` a > 0 makes strata of equal Σ u^a instead of equal
    size and draws P(u) = u^a / Σ_s u^a, where u is the uncertainty of a node.
    """

    power: float = 0.0

    def __call__(self, state: LabelState, n: int) -> Choice:
        weight = np.maximum(state.uncertainty[state.candidates], 1e-3) ** self.power
        strata = split_into_strata(state.representation[state.candidates], weight, n)
        nodes, probability = [], []
        for members in strata:
            p = weight[members] / weight[members].sum()
            drawn = int(state.rng.choice(members.size, p=p))
            nodes.append(state.candidates[members[drawn]])
            probability.append(p[drawn])
        return Choice.of(np.array(nodes), np.array(probability))


@dataclass(frozen=True)
class Uncertain:
    """P(u) = min(1, n u^a / Σ u^a), about: a sample without replacement, uncertain nodes more often."""

    power: float = 1.0

    def __call__(self, state: LabelState, n: int) -> Choice:
        weight = np.maximum(state.uncertainty[state.candidates], 1e-3) ** self.power
        p = weight / weight.sum()
        places = state.rng.choice(state.candidates.size, n, replace=False, p=p)
        return Choice.of(state.candidates[places], np.minimum(1, n * p[places]))


@dataclass(frozen=True)
class Entropy:
    """The n largest H(p_u) = -Σ_c p_uc log p_uc; before the first label a random sample."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.probabilities is None:
            return Random()(state, n)
        p = state.probabilities[state.candidates]
        h = -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)
        return Choice.of(state.candidates[highest(h, n)])


@dataclass(frozen=True)
class Density:
    """The candidates of largest u_i · mean_j exp(-‖z_i - z_j‖² / 2h²), with distance h from given labels and choices.

    h is half of the median distance of two random nodes. A candidate nearer than h to a labelled or chosen node is
    taken only where no other is left.
    """

    sample: int = 500

    def __call__(self, state: LabelState, n: int) -> Choice:
        z, rng = state.representation, state.rng
        shown = rng.choice(state.rest, min(self.sample, state.rest.size), replace=False)
        apart = np.linalg.norm(z[shown] - z[rng.permutation(shown)], axis=1)
        h = max(float(np.median(apart)) / 2, 1e-9)
        own = z[state.candidates]
        squares = (own * own).sum(axis=1)[:, None] + (z[shown] * z[shown]).sum(axis=1) - 2 * own @ z[shown].T
        score = np.exp(-squares / (2 * h * h)).mean(axis=1) * state.uncertainty[state.candidates]
        far = nearest(own, z[state.labelled])[1] if state.labelled.size else np.full(len(own), np.inf)
        chosen: list[int] = []
        for _ in range(n):
            allowed = np.where(far >= h, score, score - score.max() - 1)
            allowed[chosen] = -np.inf
            best = int(allowed.argmax())
            chosen.append(best)
            far = np.minimum(far, np.linalg.norm(own - own[best], axis=1))
        return Choice.of(state.candidates[chosen])


@dataclass(frozen=True)
class KCenter:
    """Greedy k-center: the candidate farthest from every labelled and chosen node, again and again (Sener, 2018)."""

    def __call__(self, state: LabelState, n: int) -> Choice:
        own = state.representation[state.candidates]
        if state.labelled.size:
            far = nearest(own, state.representation[state.labelled])[1]
        else:
            far = -np.linalg.norm(own - own.mean(axis=0), axis=1)  # the first node is the most typical one
        chosen: list[int] = []
        for _ in range(n):
            far[chosen] = -np.inf
            best = int(highest(far, 1)[0])
            apart = np.linalg.norm(own - own[best], axis=1)
            far = apart if not chosen and not state.labelled.size else np.minimum(far, apart)
            chosen.append(best)
        return Choice.of(state.candidates[chosen])


@dataclass(frozen=True)
class Partition:
    """The most typical candidate of each of the n largest communities of the graph (GraphPart, Ma et al., 2022).

    Communities by ``rounds`` of label propagation along edges, each node taking the most frequent community of its
    neighbours. Of a community, the candidate nearest to the mean of its representations. Communities with a given label
    come last; further candidates are drawn at random.
    """

    rounds: int = 10

    def __call__(self, state: LabelState, n: int) -> Choice:
        if state.adjacency is None:
            raise SettingError("the chooser 'partition' needs the edges of the graph")
        part = communities(state.adjacency, self.rounds, state.rng)
        known = np.isin(part, part[state.labelled])
        order = np.argsort(-(np.bincount(part) - part.size * _any(part, known)), kind="stable")
        of = part[state.candidates]
        chosen: list[int] = []
        for community in order:
            members = state.candidates[of == community]
            if len(chosen) == n:
                break
            if members.size:
                rows = state.representation[members]
                centre = state.representation[part == community].mean(axis=0, keepdims=True)
                chosen.append(int(members[nearest(rows, centre)[1].argmin()]))
        found = Choice.of(np.array(chosen, dtype=np.int64))
        return found if len(chosen) == n else found.then(Random()(state.without(found.nodes), n - len(chosen)))


def communities(adjacency: sp.csr_array, rounds: int, rng: np.random.Generator) -> np.ndarray:
    """A community for every node, (N,), numbered from 0; nodes that no edge joins are of different communities."""
    nodes = adjacency.shape[0]
    part = np.arange(nodes)
    own = sp.csr_array(adjacency + sp.eye_array(nodes, dtype=adjacency.dtype, format="csr"))
    for _ in range(rounds):
        counts = sp.csr_array(own @ sp.csr_array((np.ones(nodes), (np.arange(nodes), part)), shape=(nodes, nodes)))
        counts.data = counts.data + 1e-6 * rng.random(counts.data.size)  # equal counts: a random one
        part = counts.indices[_row_argmax(counts)].astype(np.int64)
    joined = adjacency.tocoo()
    inside = part[joined.row] == part[joined.col]
    edges = sp.csr_array((np.ones(inside.sum()), (joined.row[inside], joined.col[inside])), shape=adjacency.shape)
    from scipy.sparse.csgraph import connected_components  # slow to import

    return connected_components(edges, directed=False)[1].astype(np.int64)


def _row_argmax(matrix: sp.csr_array) -> np.ndarray:
    """The place in ``data`` of the largest entry of each row, none of which is empty."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((matrix.data, rows))
    return np.asarray(order[matrix.indptr[1:] - 1])


def _any(part: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Whether a member of each community is ``known``."""
    return np.bincount(part, weights=known) > 0


@dataclass(frozen=True)
class Mixture:
    """n₁ = round(s n) nodes by ``first``, the others by ``second``; s = ``share``, or 1 / (1 + M / (m C)) with labels.

    With ``shift`` m > 0 the share of the first falls as labels grow: it is a half at m labels per class, for M labels
    and C classes, and 1 before the first label.
    """

    first: Chooser
    second: Chooser
    share: float = 0.5
    shift: float = 0.0

    def __call__(self, state: LabelState, n: int) -> Choice:
        share = self.share
        if self.shift and state.probabilities is not None:
            share = 1 / (1 + state.labelled.size / (self.shift * state.probabilities.shape[1]))
        if state.probabilities is None:
            share = 1.0
        count = min(max(round(share * n), 0), n)
        found = self.first(state, count) if count else None
        if count == n and found is not None:
            return found
        state = state if found is None else state.without(found.nodes)
        other = self.second(state, n - count)
        return other if found is None else found.then(other)


def split_into_strata(rows: np.ndarray, weight: np.ndarray, n: int) -> list[np.ndarray]:
    """n parts of the (K, D) ``rows``, each of about Σ weight / n, as lists of places; 1 ≤ n ≤ K.

    A part for m strata is cut in two, for ⌊m/2⌋ and the rest, across the direction of largest variance of its rows,
    where the weight below the cut is the share of its strata. K log n rows are read in all.
    """
    done: list[np.ndarray] = []
    todo = [(np.arange(len(rows)), n)]
    while todo:
        members, m = todo.pop()
        if m == 1:
            done.append(members)
            continue
        order = members[np.argsort(_leading(rows[members]), kind="stable")]
        low = m // 2
        below = np.cumsum(weight[order])
        cut = int(np.searchsorted(below - weight[order] / 2, below[-1] * low / m))
        cut = min(max(cut, low), order.size - (m - low))
        todo += [(order[cut:], m - low), (order[:cut], low)]
    return done


def _leading(rows: np.ndarray, rounds: int = 8) -> np.ndarray:
    """Coordinates on the first principal direction, (K,), by power iteration; its sign is that of the largest entry."""
    x = rows - rows.mean(axis=0)
    v = np.linalg.norm(x, axis=0)
    v[int(v.argmax())] += 1  # not orthogonal to the direction of the widest column
    for _ in range(rounds):
        v = x.T @ (x @ v)
        length = np.linalg.norm(v)
        if length == 0:
            return np.zeros(len(rows))
        v = v / length
    return np.asarray(x @ v * np.sign(v[np.abs(v).argmax()]))


_ALL = (
    ChooserSpec("spread", Spread(), "a random sample that is spread over the propagated features", is_sample=True),
    ChooserSpec("uncertain-sample", Uncertain(), "a random sample, uncertain nodes more often", is_sample=True),
    ChooserSpec("entropy", Entropy(), "the nodes of highest entropy"),
    ChooserSpec("uncertain-medoids", Medoids(1.0), "the medoids of clusters that are weighted by uncertainty"),
    ChooserSpec("density", Density(), "uncertain nodes in dense regions, far from labels"),
    ChooserSpec("k-center", KCenter(), "the nodes farthest from every label"),
    ChooserSpec("partition", Partition(), "typical nodes of communities of the graph (GraphPart)"),
    ChooserSpec("design", VarianceReduction(), "the nodes whose labels lower the variance of a linear model most"),
    ChooserSpec(
        "balanced-variance",
        BeforeLabels(Medoids(), TYPICAL),
        "typical nodes whose labels lower the variance most, as many of each predicted class; medoids at first",
    ),
    ChooserSpec("half-margin", Mixture(Random(), Margin()), "half a random sample, half by margin"),
    ChooserSpec(
        "shift", Mixture(VarianceReduction(), Margin(), shift=10.0), "by design at first, more by margin as labels grow"
    ),
)
CURVE_CHOOSERS: Mapping[str, ChooserSpec] = {**CHOOSERS, **{spec.name: spec for spec in _ALL}}
