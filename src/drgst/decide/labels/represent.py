"""The state that choosers read: from a run, or from a graph without labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from drgst.decide.labels.state import BLOCK, LabelState
from drgst.runs.result import Result
from drgst.selftrain.views.ensemble import fitted_weights
from drgst.selftrain.views.graph_views import Views
from drgst.transforms.features import row_l2

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
        z,
        candidates,
        result.train,
        rng,
        result.probabilities,
        result.stage.all_gain,
        int(result.sampled.sum()),
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
