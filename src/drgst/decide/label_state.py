"""From a run, or from a graph without labels, to the state that choosers of labels read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from drgst.decide.choosers.base import BLOCK, LabelState
from drgst.decide.choosers.registry import find_chooser
from drgst.decide.suggest import Suggestions, suggest_nodes
from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.selftrain.learners.multiview.views import Views
from drgst.transforms.features import row_l2

if TYPE_CHECKING:
    from drgst.runs.result import Result

Parts = list[tuple[np.float32, np.ndarray]]  # √w_v and Z_v of each view

MAX_COLUMNS = 300  # of a representation
MIN_WEIGHT = 0.05  # of a view in it
SAFE = "balanced"  # the chooser of a recipe for which none was measured to beat a random sample
CHOOSER_OF = dict.fromkeys(("drgst-plus", "gcn", "drgst-de"), "typical-first")  # experiments 030 and 032
FIRST = "typical-first"  # the chooser of a graph without labels: medoids, experiment 022
LABELS = 23  # tells the random numbers of suggestions from those of the run
SHARE = ".share"  # the weight of a view in the state of a multi-view ensemble


def first_state(views: Views, candidates: np.ndarray, rng: np.random.Generator) -> LabelState:
    """The state before the first label."""
    none = np.empty(0, dtype=np.int64)
    z = representation(views, views.default_weights())
    return LabelState(z, candidates, none, rng, adjacency=views.graph.adjacency)


def run_state(result: Result, views: Views, candidates: np.ndarray, rng: np.random.Generator) -> LabelState:
    """The state after a run."""
    z = representation(views, view_weights(result.model.state, views))
    return LabelState(
        z,
        candidates,
        trained_on(result),
        rng,
        result.probabilities,
        result.stage.all_gain,
        adjacency=views.graph.adjacency,
    )


def trained_on(result: Result) -> np.ndarray:
    """The training nodes. A validation node whose label only stops the training teaches the model nothing."""
    return np.flatnonzero(result.model.arrays["labeled_stage"] == 0)


def result_state(result: Result, by: str) -> LabelState:
    """The state after a finished run, for the chooser ``by``; the graph is not opened for a simple sample."""
    nodes, rng = result.model.arrays["candidates"], np.random.default_rng([result.model.seed, LABELS])
    if find_chooser(by).is_sample and by != "spread":
        z = np.asarray(row_l2(result.stage.embedding), dtype=np.float32)
        return LabelState(z, nodes, trained_on(result), rng, result.probabilities, result.stage.all_gain)
    problem = result.run.problem
    views: Views = problem.graph_cache.get(problem.graph, "views", lambda: Views(problem.graph))
    return run_state(result, views, nodes, rng)


def default_chooser(recipe: str) -> str:
    """The chooser that a recipe suggests labels by: one whose curves were above those of a random sample."""
    return CHOOSER_OF.get(recipe, SAFE)


def chooser_note(recipe: str, by: str) -> str:
    """Why labels are chosen so, in one or two sentences."""
    what = find_chooser(by).summary
    if by != default_chooser(recipe):
        return f"Chosen by {by}: {what}."
    if recipe in CHOOSER_OF:
        better = f"With {recipe} its learning curves were above those of a random sample on average."
        return f"Chosen by {by}: {what}. {better}"
    return f"A class-balanced random sample: with {recipe} no chooser was measured to beat one."


def view_weights(state: Mapping[str, Tensor], views: Views) -> dict[str, float]:
    """View -> weight of a fitted multi-view ensemble; the default weights for the state of any other learner."""
    found = {name.removesuffix(SHARE): float(w) for name, w in state.items() if name.endswith(SHARE)}
    return found or views.default_weights()


def known_classes(graph: Graph, split: Split) -> tuple[Graph, Split, np.ndarray]:
    """``graph`` and ``split`` with those classes alone that have a training label, and these classes, (C',).

    The labels of other classes are removed, and validation nodes of other classes join the pool.
    """
    found = np.unique(graph.labels[split.train])
    if found.size == graph.num_classes:
        return graph, split, found
    index = np.full(graph.num_classes + 1, -1)  # the last place is that of unlabelled nodes
    index[found] = np.arange(found.size)
    names = tuple(graph.class_names[c] for c in found)
    made = graph.with_(labels=index[graph.labels], class_names=names)
    strange = made.labels[split.val] < 0
    pool = np.union1d(split.pool, split.val[strange])
    return made, Split(split.train, split.val[~strange], split.test, pool, split.name), found


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


def first_suggestions(graph: Graph, n: int, by: str | None = None, seed: int = 0) -> Suggestions:
    """``n`` nodes of ``graph`` to label first, without any label; validation and test nodes are left out."""
    name = FIRST if by is None else find_chooser(by).name
    free = np.arange(graph.num_nodes)
    if graph.split is not None:
        free = np.setdiff1d(free, np.concatenate([graph.split.val, graph.split.test]))
    state = first_state(Views(graph), free, np.random.default_rng([seed, LABELS]))
    found = suggest_nodes(state, name, n, ())
    return replace(found, note=f"No label is known yet. Chosen by {name}: {find_chooser(name).summary}.")
