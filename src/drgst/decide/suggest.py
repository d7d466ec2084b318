"""Which nodes to label next, and why each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from drgst.decide.choosers.base import LabelState, choose, represents
from drgst.decide.choosers.registry import find_chooser

CONFIDENT = 0.95  # above which a node is only suggested where it stands for others, or is a sample
STANDS_FOR = 5  # unlabelled nodes, at least, that such a node must stand for
CLOSE = 0.2  # difference of the first two probabilities up to which two classes are named
ROUNDS = 5  # of replacing nodes without a reason


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Nodes to label next in order, with the reason of each, the chooser and why it is used."""

    nodes: np.ndarray  # (n,)
    represents: np.ndarray  # (n,) unlabelled nodes that are nearer to it than to a label or to another suggestion
    probability: np.ndarray  # (n,) with which it was drawn; NaN where the choice is no sample
    reasons: tuple[str, ...]
    by: str  # the chooser
    note: str = ""  # one sentence on the choice of the chooser


def suggest_nodes(state: LabelState, by: str, n: int, class_names: tuple[str, ...]) -> Suggestions:
    """``n`` nodes by the chooser ``by``, fewer where fewer are unlabelled.

    A node of confidence above 0.95 that stands for fewer than five others is replaced, unless it is part of a sample.
    """
    spec, left = find_chooser(by), state
    for _ in range(ROUNDS):
        found = choose(spec.chooser, left, n)
        stands = represents(state, found.nodes) if found.nodes.size else np.empty(0, dtype=np.int64)
        bad = (_confidence(state, found.nodes) > CONFIDENT) & (stands < STANDS_FOR)
        if spec.is_sample or not bad.any():
            break
        left = replace(left, candidates=np.setdiff1d(left.candidates, found.nodes[bad]))
    kept = ~bad | spec.is_sample
    nodes, stands, probability = found.nodes[kept], stands[kept], found.probability[kept]
    reasons = tuple(
        reason(state, int(u), int(k), spec.is_sample, class_names) for u, k in zip(nodes, stands, strict=True)
    )
    return Suggestions(nodes, stands, probability, reasons, by)


def reason(state: LabelState, node: int, stands: int, drawn: bool, class_names: tuple[str, ...]) -> str:
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


def suggestion_rows(found: Suggestions, probabilities: np.ndarray | None) -> list[dict[str, Any]]:
    """One dict per node: its index, predicted class and confidence (None before the first label), reason and draw."""
    rows = []
    for k, node in enumerate(found.nodes.tolist()):
        p = None if probabilities is None else probabilities[node]
        drawn = float(found.probability[k])
        rows.append(
            {
                "node": node,
                "predicted": None if p is None else int(p.argmax()),
                "confidence": None if p is None else float(p.max()),
                "represents": int(found.represents[k]),
                "reason": found.reasons[k],
                "chosen_by": found.by,
                "probability": drawn if np.isfinite(drawn) else None,
            }
        )
    return rows


def _confidence(state: LabelState, nodes: np.ndarray) -> np.ndarray:
    return np.zeros(nodes.size) if state.probabilities is None else state.probabilities[nodes].max(axis=1)
