"""Which nodes to label next, and why each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from drgst.decide.labels.registry import FIRST, ChooserSpec, chooser_note, default_chooser, find_chooser
from drgst.decide.labels.state import Choice, LabelState, choose, first_state, label_rng, represents, result_state
from drgst.graph.core import Graph
from drgst.runs.result import Result
from drgst.selftrain.views.graph_views import Views
from drgst.threads import limit_threads

CONFIDENT = 0.95  # above which a node is suggested only if it represents others, or is part of a sample
STANDS_FOR = 5  # unlabelled nodes, at least, that such a node must represent
CLOSE = 0.2  # difference of the first two probabilities up to which two classes are named
ROUNDS = 5  # of replacing nodes without a reason
ENOUGH = 1 << 62  # labels of a sample: no chooser draws more


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Nodes to label next in order, with the reason of each, the chooser and why it is used."""

    nodes: np.ndarray  # (n,)
    random: np.ndarray  # (n,) whether it is part of a simple random sample
    represents: np.ndarray  # (n,) unlabelled nodes that are nearer to it than to a label or to another suggestion
    probability: np.ndarray  # (n,) with which it was drawn; NaN where the choice is not a sample
    reasons: tuple[str, ...]
    by: str  # the chooser
    note: str = ""  # one sentence on the choice of the chooser

    def rows(self, probabilities: np.ndarray | None) -> list[dict[str, Any]]:
        """One dict per node: its index, predicted class and confidence (None before the first label), reason, draw."""
        rows = []
        for k, node in enumerate(self.nodes.tolist()):
            p = None if probabilities is None else probabilities[node]
            drawn = float(self.probability[k])
            rows.append(
                {
                    "node": node,
                    "predicted": None if p is None else int(p.argmax()),
                    "confidence": None if p is None else float(p.max()),
                    "represents": int(self.represents[k]),
                    "reason": self.reasons[k],
                    "chosen_by": "random" if self.random[k] else self.by,
                    "probability": drawn if np.isfinite(drawn) else None,
                }
            )
        return rows


@limit_threads(1)
def suggest(result: Result, n: int, by: str | None = None) -> Suggestions:
    """``n`` nodes of a run to label next, fewer where fewer are unlabelled, by a chooser (default: the recipe's)."""
    spec = find_chooser(default_chooser(result.model.recipe, int(result.sampled.sum())) if by is None else by)
    state = result_state(result, spec.is_sample)
    found = suggest_nodes(state, spec, n, result.model.class_names)
    note = found.note or chooser_note(result.model.recipe, spec.name)
    if state.candidates.size <= n:
        note = f"Only {state.candidates.size:,} nodes can be labelled, so there was nothing to choose."
    return replace(found, note=note)


@limit_threads(1)
def suggest_first(graph: Graph, n: int, by: str | None = None, seed: int = 0) -> Suggestions:
    """``n`` nodes of ``graph`` to label first, without any label; validation and test nodes are left out.

    Where some nodes have a label, the others are suggested; where all have one, as in a data set, labels are not read.
    """
    spec = find_chooser(FIRST if by is None else by)
    some = np.flatnonzero(graph.labels < 0)
    free = some if some.size else np.arange(graph.num_nodes)
    if graph.split is not None:
        free = np.setdiff1d(free, np.concatenate([graph.split.val, graph.split.test]))
    state = first_state(Views(graph), free, label_rng(seed))
    known = graph.num_nodes - some.size if some.size else 0
    unused = f"The {known:,} labels of the graph are not used: drgst run, then drgst suggest RUN, uses them."
    note = f"{unused if known else 'No label is used.'} {chooser_note('', spec.name)}"
    return replace(suggest_nodes(state, spec, n, ()), note=note)


def suggest_nodes(state: LabelState, spec: ChooserSpec, n: int, class_names: tuple[str, ...]) -> Suggestions:
    """``n`` nodes by a chooser, fewer where fewer are unlabelled.

    A node of confidence above 0.95 that represents fewer than five others is replaced, unless it is part of a sample.
    """
    found = choose(spec.chooser, state, n)
    drawn = found.only(np.isfinite(found.probability))  # a random part is drawn once, from all candidates
    rest, left = found.only(~np.isfinite(found.probability)), replace(state.without(drawn.nodes), sampled=ENOUGH)
    wanted, all_left = rest.nodes.size, left
    stands, bad = _needless(state, drawn, rest)
    for _ in range(ROUNDS):
        if not bad.any():
            break
        left = replace(left, candidates=np.setdiff1d(left.candidates, rest.nodes[bad]))
        rest = Choice.of(choose(spec.chooser, left, wanted).nodes)
        stands, bad = _needless(state, drawn, rest)
    note = ""  # learning curves were measured without such replacements
    if left is not all_left:
        note = (
            f"Chosen by {spec.name}: {spec.summary}. Nodes of confidence above {CONFIDENT:g} that represent fewer than "
            f"{STANDS_FOR} others were left out."
        )
    found = drawn.then(rest.only(~bad))
    nodes, probability = found.nodes, found.probability
    stands = stands[np.append(np.ones(drawn.nodes.size, dtype=bool), ~bad)]
    rows = zip(nodes.tolist(), stands.tolist(), np.isfinite(probability).tolist(), strict=True)
    reasons = tuple(_reason(state, *row, class_names) for row in rows)
    return Suggestions(nodes, found.random, stands, probability, reasons, spec.name, note)


def _needless(state: LabelState, drawn: Choice, rest: Choice) -> tuple[np.ndarray, np.ndarray]:
    """How many nodes ``drawn`` and ``rest`` represent each, and which of ``rest`` are confident and represent few."""
    stands = represents(state, np.append(drawn.nodes, rest.nodes))
    p = state.probabilities
    confident = np.zeros(rest.nodes.size, dtype=bool) if p is None else p[rest.nodes].max(axis=1) > CONFIDENT
    return stands, confident & (stands[drawn.nodes.size :] < STANDS_FOR)


def _reason(state: LabelState, node: int, stands: int, drawn: bool, class_names: tuple[str, ...]) -> str:
    """``132 nodes are nearer to it than to any label; between A (0.41) and B (0.38)``."""
    words = []
    if drawn:
        words.append("drawn at random")
    if stands:
        words.append(_represents(stands, bool(state.labelled.size)))
    if state.probabilities is not None and state.probabilities.shape[1] > 1:
        p = state.probabilities[node]
        second, first = np.argsort(p, kind="stable")[-2:]
        if p[first] - p[second] <= CLOSE:
            words.append(f"between {class_names[first]} ({p[first]:.2f}) and {class_names[second]} ({p[second]:.2f})")
    return "; ".join(words) or "its label lowers the uncertainty of the others"


def _represents(stands: int, labels: bool) -> str:
    if not labels:
        return f"represents {stands:,} node{'s' if stands > 1 else ''}"
    nodes = "1 node is" if stands == 1 else f"{stands:,} nodes are"
    return f"{nodes} nearer to it than to any label"
