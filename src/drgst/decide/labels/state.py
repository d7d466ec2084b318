"""What a chooser of labels reads, made from a run or from a graph without labels, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from drgst.errors import SettingError
from drgst.runs.result import Result
from drgst.selftrain.views.ensemble import fitted_weights
from drgst.selftrain.views.graph_views import Views
from drgst.transforms.features import row_l2

BLOCK = 20_000  # rows of a product of representations at a time


@dataclass(frozen=True, eq=False)
class LabelState:
    """What is known before nodes are chosen for labelling: representations, predictions, and which labels are given.

    ``probabilities`` is None before the first label.
    """

    representation: np.ndarray  # Z, (N, D), rows of about unit length
    candidates: np.ndarray  # (K,) nodes that may be chosen, sorted
    labelled: np.ndarray  # (M,) nodes whose label the model is trained on
    rng: np.random.Generator
    probabilities: np.ndarray | None = None  # p, (N, C)
    gain: np.ndarray | None = None  # B, (N,): information gain, or the disagreement of views
    sampled: int = 0  # how many of the labels are a random sample, as far as is known

    @cached_property
    def uncertainty(self) -> np.ndarray:
        """1 - Σ_c p_c², (N,): the probability that a label drawn from p differs from another; 1 before any label."""
        if self.probabilities is None:
            return np.ones(self.representation.shape[0])
        return np.asarray(1 - np.einsum("nc,nc->n", self.probabilities, self.probabilities, dtype=np.float64))

    @cached_property
    def rest(self) -> np.ndarray:
        """The nodes without a given label, sorted."""
        return np.setdiff1d(np.arange(self.representation.shape[0]), self.labelled)

    def without(self, nodes: np.ndarray) -> LabelState:
        """The same state after ``nodes`` were chosen."""
        left = np.setdiff1d(self.candidates, nodes)
        return replace(self, candidates=left, labelled=np.union1d(self.labelled, nodes))


@dataclass(frozen=True, eq=False)
class Choice:
    """Nodes to label, in order, and the probability with which each was drawn: NaN where the choice is not a sample."""

    nodes: np.ndarray  # (n,)
    probability: np.ndarray  # (n,)

    @classmethod
    def of(cls, nodes: np.ndarray, probability: float | np.ndarray = np.nan) -> Choice:
        """``probability`` may be one number for all nodes."""
        nodes = np.asarray(nodes, dtype=np.int64)
        return cls(nodes, np.broadcast_to(np.asarray(probability, dtype=np.float64), nodes.shape).copy())

    @property
    def random(self) -> np.ndarray:
        """Which nodes are a simple random sample, (n,): those with a probability, if it is the same for all of them."""
        drawn = np.isfinite(self.probability)
        return drawn & (np.unique(self.probability[drawn]).size <= 1)

    def only(self, kept: np.ndarray) -> Choice:
        """Those of a mask, (n,)."""
        return Choice(self.nodes[kept], self.probability[kept])

    def then(self, other: Choice) -> Choice:
        """Both, this one first."""
        return Choice(np.append(self.nodes, other.nodes), np.append(self.probability, other.probability))


class Chooser(Protocol):
    """State -> n different candidates, 1 ≤ n ≤ K."""

    def __call__(self, state: LabelState, n: int, /) -> Choice: ...


def choose(chooser: Chooser, state: LabelState, n: int) -> Choice:
    """``n`` candidates by ``chooser``, all where there are fewer; fewer than one is refused."""
    if n < 1:
        raise SettingError(f"n is {n}, but must be at least 1")
    if state.candidates.size <= n:
        return Choice.of(state.candidates, 1.0)
    return chooser(state, n)


def highest(scores: np.ndarray, n: int) -> np.ndarray:
    """The places of the n largest scores, largest first; the first of equal ones."""
    return np.argsort(-scores, kind="stable")[:n]


def nearest(rows: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """argmin_j ‖z_i - c_j‖ and that distance, (N,) each, for (N, D) ``rows`` and (K, D) ``centres``."""
    place, distance = np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
    squares = np.einsum("kd,kd->k", centres, centres)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        apart = squares - 2 * (block @ centres.T)
        best = apart.argmin(axis=1)
        own = np.einsum("nd,nd->n", block, block)
        place[start : start + BLOCK] = best
        distance[start : start + BLOCK] = np.sqrt(np.maximum(apart[np.arange(len(block)), best] + own, 0))
    return place, distance


def represents(state: LabelState, nodes: np.ndarray) -> np.ndarray:
    """How many unlabelled nodes are nearer to each of ``nodes`` than to another of them or to a labelled node, (n,)."""
    if not nodes.size:
        return np.empty(0, dtype=np.int64)
    centres = np.concatenate([nodes, state.labelled])
    z = state.representation
    place, _ = nearest(z[np.setdiff1d(state.rest, nodes)], z[centres])
    return np.bincount(place, minlength=centres.size)[: nodes.size]


Parts = list[tuple[np.float32, np.ndarray]]  # √w_v and Z_v of each view

MAX_COLUMNS = 300  # of a representation
MIN_WEIGHT = 0.05  # of a view in it
LABELS = 23  # separates the random numbers of suggestions from those of the run


def label_rng(seed: int) -> np.random.Generator:
    """The random numbers of suggestions, apart from those of the run."""
    return np.random.default_rng([seed, LABELS])


def first_state(views: Views, candidates: np.ndarray, rng: np.random.Generator) -> LabelState:
    """The state before the first label."""
    none = np.empty(0, dtype=np.int64)
    z = representation(views, views.default_weights())
    return LabelState(z, candidates, none, rng)


def run_state(result: Result, views: Views, candidates: np.ndarray, rng: np.random.Generator) -> LabelState:
    """The state after a run."""
    z = representation(views, fitted_weights(result.model.state) or views.default_weights())
    return LabelState(
        z, candidates, result.train, rng, result.probabilities, result.stage.all_gain, int(result.sampled.sum())
    )


def result_state(result: Result, sample: bool) -> LabelState:
    """The state after a finished run; for a chooser that draws a ``sample`` the graph is not opened."""
    nodes, rng = result.model.arrays["candidates"], label_rng(result.model.seed)
    if sample:
        z = np.asarray(row_l2(result.stage.embedding), dtype=np.float32)
        return LabelState(z, nodes, result.train, rng, result.probabilities, result.stage.all_gain)
    problem = result.run.problem
    views = Views.of(problem.graph, problem.graph_cache)
    return run_state(result, views, nodes, rng)


def representation(views: Views, weights: Mapping[str, float]) -> np.ndarray:
    """Z = [√w_v Z_v]_v, (N, D) float32, over the views of weight 0.05 or more; rows of mean length 1.

    zᵀz' is then Σ_v w_v z_vᵀ z'_v. More than 300 columns are replaced by the 300 leading principal ones.
    """
    shown = {name: w for name, w in weights.items() if w >= MIN_WEIGHT} or {max(weights, key=lambda n: weights[n]): 1.0}
    parts = [(np.float32(np.sqrt(w)), views[name]) for name, w in shown.items()]
    nodes, width = views.graph.num_nodes, sum(z.shape[1] for _, z in parts)
    z = np.empty((nodes, min(width, MAX_COLUMNS)), dtype=np.float32)
    leading = None if width <= MAX_COLUMNS else _leading(parts, nodes)
    for rows in _blocks(nodes):
        block = _beside(parts, rows)
        z[rows] = block if leading is None else block @ leading
    length = float(np.linalg.norm(z, axis=1).mean())
    return z / np.float32(length) if length > 0 else z


def _leading(parts: Parts, nodes: int) -> np.ndarray:
    """The leading principal directions of the views side by side, (D, 300) float32."""
    total = sum(block.T @ block for block in (_beside(parts, rows) for rows in _blocks(nodes)))
    _, vectors = np.linalg.eigh(np.asarray(total, dtype=np.float64))
    return np.ascontiguousarray(vectors[:, : -MAX_COLUMNS - 1 : -1], dtype=np.float32)


def _beside(parts: Parts, rows: slice) -> np.ndarray:
    return np.hstack([w * np.asarray(z[rows], dtype=np.float32) for w, z in parts])


def _blocks(nodes: int) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, nodes, BLOCK)]
